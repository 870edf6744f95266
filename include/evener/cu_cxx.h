/* For tools: templates in code that evener-c++ makes from directives of compute units in C++; it
 * puts this header behind <evener/cu_prelude.h>, before the first line of every file of C++, and
 * <evener/cu_exceptions.h> behind the last. Programs do not use these names; docs/cpp.md and
 * docs/language.md are the manual.
 *
 * A loop's variable is an integer, which is treated as in C (evn_cu_trips()), or an iterator of
 * random access, of which the distance to the bound counts. The header includes nothing, as the
 * program's first lines may say how headers are to be read. */
#ifndef EVENER_CU_CXX_H
#define EVENER_CU_CXX_H
#ifdef __cplusplus

#    include <evener/cu_prelude.h>
#    include <evener/cu_words.h>

extern "C" int evn_cu_is_gpu(void);

/* <evener/cu_exceptions.h> */
inline void evn_cu_keep();
inline void evn_cu_keep_teams();
inline void evn_cu_rethrow();

/* ---- types ---- */

template <class T> struct evn_cxx_plain { typedef T evn_type; };
template <class T> struct evn_cxx_plain<T &> : evn_cxx_plain<T> {};
template <class T> struct evn_cxx_plain<T &&> : evn_cxx_plain<T> {};
template <class T> struct evn_cxx_plain<const T> : evn_cxx_plain<T> {};
template <class T> struct evn_cxx_plain<volatile T> : evn_cxx_plain<T> {};
template <class T> struct evn_cxx_plain<const volatile T> : evn_cxx_plain<T> {};

template <class A, class B> struct evn_cxx_exactly {
    enum { evn_is = 0 };
};
template <class A> struct evn_cxx_exactly<A, A> {
    enum { evn_is = 1 };
};
/* evn_is: A and B are the same type but for references and qualifiers. */
template <class A, class B> struct evn_cxx_same {
    enum {
        evn_is = evn_cxx_exactly<typename evn_cxx_plain<A>::evn_type,
                                 typename evn_cxx_plain<B>::evn_type>::evn_is
    };
};

template <class T> struct evn_cxx_integer {
    enum { evn_is = __is_enum(T) };
};
template <class T> struct evn_cxx_number {
    enum { evn_is = evn_cxx_integer<T>::evn_is };
};
#    define EVN_CU_IS(kind, type)                                                                  \
        template <> struct evn_cxx_##kind<type> {                                                  \
            enum { evn_is = 1 };                                                                   \
        };
EVN_CU_IS(integer, bool)
EVN_CU_IS(integer, char)
EVN_CU_IS(integer, signed char)
EVN_CU_IS(integer, unsigned char)
EVN_CU_IS(integer, wchar_t)
EVN_CU_IS(integer, char16_t)
EVN_CU_IS(integer, char32_t)
EVN_CU_IS(integer, short)
EVN_CU_IS(integer, unsigned short)
EVN_CU_IS(integer, int)
EVN_CU_IS(integer, unsigned int)
EVN_CU_IS(integer, long)
EVN_CU_IS(integer, unsigned long)
EVN_CU_IS(integer, long long)
EVN_CU_IS(integer, unsigned long long)
EVN_CU_IS(number, float)
EVN_CU_IS(number, double)
EVN_CU_IS(number, long double)
#    undef EVN_CU_IS

template <class T> T &&evn_cxx_some() noexcept;
template <class...> struct evn_cxx_void { typedef void evn_type; };

/* Types that can be added to, subtracted and dereferenced like a random-access iterator. */
template <class T, class = void> struct evn_cxx_random {
    enum { evn_is = 0 };
};
template <class T>
struct evn_cxx_random<T, typename evn_cxx_void<decltype(*(evn_cxx_some<T &>() + 1))>::evn_type> {
    enum {
        evn_is =
            evn_cxx_integer<typename evn_cxx_plain<decltype(evn_cxx_some<T &>() -
                                                            evn_cxx_some<T &>())>::evn_type>::evn_is
    };
};

/* A function of batch(). */
template <class T> struct evn_cxx_batch_of {
    enum { evn_is = 0 };
};
template <> struct evn_cxx_batch_of<void (*)(const evn_cu_int *, int)> {
    enum { evn_is = 1 };
};
#    if __cplusplus >= 201703L
template <> struct evn_cxx_batch_of<void (*)(const evn_cu_int *, int) noexcept> {
    enum { evn_is = 1 };
};
#    endif

/* What has the name of a reduction's array or pointer in the body. */
template <class T> struct evn_cxx_section {
    enum { evn_is = 0, evn_pointer = 0 };
    typedef T evn_type;
};
template <class T> struct evn_cxx_section<T &> : evn_cxx_section<T> {};
template <class T> struct evn_cxx_section<T *const> : evn_cxx_section<T *> {};
template <class T> struct evn_cxx_section<T *__restrict> : evn_cxx_section<T *> {};
template <class T> struct evn_cxx_section<T *const __restrict> : evn_cxx_section<T *> {};
template <class T> struct evn_cxx_section<T *> {
    enum { evn_is = 1, evn_pointer = 1 };
    typedef T *evn_type;
};
template <class T, __SIZE_TYPE__ n> struct evn_cxx_section<T[n]> {
    enum { evn_is = 1, evn_pointer = 0 };
    typedef T evn_type[n];
};

/* ---- loops ---- */

template <class I, int integer = evn_cxx_integer<I>::evn_is>
struct evn_cxx_loop { /* over an iterator */
    enum { evn_is = evn_cxx_random<I>::evn_is };
    typedef I start;
    template <class F> static start from(const F &first) { return first; }
    template <class T>
    static evn_cu_int trips(evn_cu_site *site, const I &first, const T &to, evn_cu_int step,
                            int relation) {
        return evn_cu_trips(site, 0, static_cast<evn_cu_int>(to - first), step, relation);
    }
    static I at(const I &first, evn_cu_int number, evn_cu_int step) {
        return first + static_cast<decltype(first - first)>(number * step);
    }
};

template <class I> struct evn_cxx_loop<I, 1> {
    enum { evn_is = 1 };
    typedef evn_cu_int start;
    template <class F> static start from(const F &first) {
        static_assert(evn_cxx_integer<F>::evn_is, "the loop's first value is no integer");
        return static_cast<start>(static_cast<I>(first));
    }
    template <class T>
    static evn_cu_int trips(evn_cu_site *site, start first, const T &to, evn_cu_int step,
                            int relation) {
        static_assert(evn_cxx_integer<T>::evn_is, "the loop's bound is no integer");
        typedef typename evn_cxx_plain<decltype(I() + to)>::evn_type common;
        return evn_cu_trips(site,
                            static_cast<evn_cu_int>(static_cast<common>(static_cast<I>(first))),
                            static_cast<evn_cu_int>(static_cast<common>(to)), step,
                            relation + (static_cast<common>(-1) > common() ? EVN_CU_UNSIGNED : 0) +
                                (static_cast<I>(-1) > I() ? EVN_CU_NATURAL : 0) +
                                EVN_CU_BYTE * static_cast<int>(sizeof(I)));
    }
    static I at(start first, evn_cu_int number, evn_cu_int step) {
        return static_cast<I>(static_cast<unsigned long long>(first) +
                              static_cast<unsigned long long>(number) *
                                  static_cast<unsigned long long>(step));
    }
};

template <class I, class F> typename evn_cxx_loop<I>::start evn_cxx_loop_from(const F &first) {
    return evn_cxx_loop<I>::from(first);
}
template <class I, class T>
evn_cu_int evn_cxx_loop_trips(evn_cu_site *site, const typename evn_cxx_loop<I>::start &first,
                              const T &to, evn_cu_int step, int relation) {
    return evn_cxx_loop<I>::trips(site, first, to, step, relation);
}
template <class I>
I evn_cxx_loop_at(const typename evn_cxx_loop<I>::start &first, evn_cu_int number,
                  evn_cu_int step) {
    return evn_cxx_loop<I>::at(first, number, step);
}

/* Begin and end of a range-for: an array's, a class's own, or those that are found by the
 * argument's type. */
template <class C> auto evn_cxx_begin_of(C &range, int) -> decltype(range.begin()) {
    return range.begin();
}
template <class C> auto evn_cxx_begin_of(C &range, long) -> decltype(begin(range)) {
    return begin(range);
}
template <class C> auto evn_cxx_end_of(C &range, int) -> decltype(range.end()) {
    return range.end();
}
template <class C> auto evn_cxx_end_of(C &range, long) -> decltype(end(range)) {
    return end(range);
}
template <class C> auto evn_cxx_begin(C &range) -> decltype(evn_cxx_begin_of(range, 0)) {
    return evn_cxx_begin_of(range, 0);
}
template <class C> auto evn_cxx_end(C &range) -> decltype(evn_cxx_end_of(range, 0)) {
    return evn_cxx_end_of(range, 0);
}
template <class T, __SIZE_TYPE__ n> T *evn_cxx_begin(T (&range)[n]) { return range; }
template <class T, __SIZE_TYPE__ n> T *evn_cxx_end(T (&range)[n]) { return range + n; }

/* lastprivate */
template <class T> void evn_cxx_assign(T &to, T &from) { to = from; }
template <class T, __SIZE_TYPE__ n> void evn_cxx_assign(T (&to)[n], T (&from)[n]) {
    for (__SIZE_TYPE__ i = 0; i < n; i++) evn_cxx_assign(to[i], from[i]);
}

#    include <evener/cu_words.h>
#endif
#endif
