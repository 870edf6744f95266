/* For tools: exceptions that leave the body of a loop over compute units in C++, on whichever
 * unit; evener-c++ puts this header behind the last line of every file of C++, where the program
 * has said how the headers of C++ are to be read. The first exception is kept until the directive
 * has ended, and thrown again there. */
#ifndef EVENER_CU_EXCEPTIONS_H
#define EVENER_CU_EXCEPTIONS_H
#ifdef __cplusplus

#    include <evener/cu_cxx.h>
#    if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#        include <evener/cu_words.h>
#        ifndef EVN_CU_EXCEPTIONS_KNOWN /* in preprocessed text */
#            include <exception>
#        endif

namespace evn_cu_exceptions {
inline std::exception_ptr &of_all() {
    static std::exception_ptr kept;
    return kept;
}
inline std::exception_ptr &of_thread() {
    static thread_local std::exception_ptr kept;
    return kept;
}
} // namespace evn_cu_exceptions

inline void evn_cu_keep() {
    const int where = evn_cu_caught();
    if (where == 1) evn_cu_exceptions::of_all() = std::current_exception();
    if (where == 2) evn_cu_exceptions::of_thread() = std::current_exception();
}

inline void evn_cu_keep_teams() {
    const std::exception_ptr it = std::current_exception();
    const char *text = "one that is no std::exception";
    try {
        throw;
    } catch (const std::exception &e) {
        text = e.what();
        if (evn_cu_left_teams(it == evn_cu_exceptions::of_all(), text))
            evn_cu_exceptions::of_all() = it;
    } catch (...) {
        if (evn_cu_left_teams(it == evn_cu_exceptions::of_all(), text))
            evn_cu_exceptions::of_all() = it;
    }
}

inline void evn_cu_rethrow() {
    const int where = evn_cu_thrown();
    if (where == 0) return;
    std::exception_ptr &kept =
        where == 2 ? evn_cu_exceptions::of_thread() : evn_cu_exceptions::of_all();
    const std::exception_ptr it = kept;
    if (where != 3) kept = nullptr;
    std::rethrow_exception(it);
}
#        include <evener/cu_words.h>
#    endif

#endif
#endif
