/* For tools: exceptions that leave the body of a loop over compute units in C++, on whichever
 * unit; evener-c++ puts this header behind the last line of every file of C++, where the program
 * has said how the headers of C++ are to be read. The first exception is kept until the directive
 * has ended, and thrown again there. */
#ifndef EVENER_CU_EXCEPTIONS_H
#define EVENER_CU_EXCEPTIONS_H
#ifdef __cplusplus

#    include <evener/cu_cxx.h>
#    if defined(__cpp_exceptions) || defined(__EXCEPTIONS)
#        include <exception>
#        include <utility>

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
    if (where == 1) std::rethrow_exception(std::exchange(evn_cu_exceptions::of_all(), nullptr));
    if (where == 2) std::rethrow_exception(std::exchange(evn_cu_exceptions::of_thread(), nullptr));
    if (where == 3) std::rethrow_exception(evn_cu_exceptions::of_all());
}
#    endif

#endif
#endif
