/* For programs in C++17 and later: evener.h with owners, exceptions and lambdas. Header only.
 *
 *     evn::session session;
 *     evn::loop loop = session.open_loop(sizes);
 *     for (int step = 0; step < steps; step++)
 *         loop.run([&](const evn::batch &batch) {
 *             for (int t : batch) work_on(t);
 *         });
 *     session.close();
 *
 * Owners. session, loop, place, exchange, recovery and schedule are move-only and close their
 * handles, in any order: a session closes all that was opened in it, a loop or place the exchanges
 * that use it, a schedule its loop.
 * get() is the handle for functions of evener.h, NULL once it is closed. A session is used by the
 * thread that made it, as evn_open() says.
 *
 * Failures are exceptions, evn::error, with the status and evn_message().
 *
 * Bodies are any callables. An exception that leaves a body, on whichever unit or core, ends the
 * instance as a failed body does, and run() throws it again in its caller; of several, the first.
 * Over ranks run() throws it on its own rank, and evn::error on the others. An OpenMP region in a
 * body has OpenMP's own rule: exceptions are caught within the region.
 *
 * Record and trace. session::close() publishes them and throws where they cannot be written. The
 * destructor publishes, too, and prints such a failure on standard error. Where an exception ends
 * the session, nothing is published, as evn_abandon() has it.
 *
 * docs/cpp.md is the manual's page, examples/heat.cpp a whole program. */
#ifndef EVENER_HPP
#define EVENER_HPP

#include <evener.h>
#include <evener/change.h>
#include <evener/device.h>
#include <evener/exchange.h>
#include <evener/loop.h>
#include <evener/open.h>
#include <evener/place.h>
#include <evener/recover.h>
#include <evener/schedule.h>
#include <evener/unit.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>
#ifdef __GLIBCXX__
#    include <cxxabi.h>
#endif

namespace evn {

/* ---- failures ---- */

class error : public std::exception {
  public:
    /* The calling thread's last failure. */
    explicit error(evn_status status) : error(status, evn_message()) {}
    error(evn_status status, std::string text)
        : status_(status), text_(std::make_shared<const std::string>(std::move(text))) {}
    evn_status status() const noexcept { return status_; }
    const char *what() const noexcept override { return text_->c_str(); }

  private:
    evn_status status_;
    std::shared_ptr<const std::string> text_; /* so that copies do not throw */
};

inline void check(evn_status status) {
    if (status != EVN_OK) throw error(status);
}

/* For main(): prints the failure, over ranks once for all; returns the exit status
 * (evn_complain()). */
inline int complain(const char *program, const std::exception &failure) {
    evn_fail_text(EVN_BODY, failure.what());
    return evn_complain(program);
}

namespace detail {

/* Calls functions on several threads and keeps the first exception. */
class trap {
  public:
    template <class F> evn_status call(F &&function) {
        try {
            function();
            return EVN_OK;
#ifdef __GLIBCXX__
        } catch (abi::__forced_unwind &) { /* of pthread_exit(), which nobody may stop */
            throw;
#endif
        } catch (const error &e) {
            keep();
            return evn_fail_text(e.status() == EVN_OK ? EVN_BODY : e.status(), e.what());
        } catch (const std::exception &e) {
            keep();
            return evn_fail_text(EVN_BODY, e.what());
        } catch (...) {
            keep();
            return evn_fail_text(EVN_BODY, "an exception that is no std::exception");
        }
    }
    bool caught() const noexcept { return caught_.load(); }
    void rethrow() const {
        if (first_) std::rethrow_exception(first_);
    }

  private:
    void keep() {
        const std::lock_guard<std::mutex> hold(lock_);
        if (!first_) first_ = std::current_exception();
        caught_.store(true);
    }
    std::mutex lock_;
    std::exception_ptr first_;
    std::atomic<bool> caught_{false};
};

inline int number(std::size_t count, const char *noun) {
    if (count <= std::size_t(INT_MAX)) return int(count);
    throw error(EVN_USAGE,
                std::string(noun) + ": " + std::to_string(count) + " are more than an int counts");
}

template <class C>
using element = std::remove_reference_t<decltype(*std::data(std::declval<C &>()))>;

/* A handle that its session closes unless its owner does, with those that use it. */
struct part {
    void *handle;
    evn_status (*close)(evn_session *session, void *handle);
    std::vector<std::weak_ptr<part>> users;
    /* Bytes of an element of each region, by a place's numbers or by those among a task's; 0: not
     * known, or not the same for all tasks. */
    std::vector<std::size_t> element;
    std::shared_ptr<void> kept; /* memory that the handle points to */

    std::size_t element_of(int region) const {
        return region >= 0 && std::size_t(region) < element.size() ? element[std::size_t(region)]
                                                                   : 0;
    }
};

struct state {
    evn_session *session = nullptr;
    unsigned flags = 0;
    std::thread::id opener = std::this_thread::get_id();
    std::vector<std::shared_ptr<part>> parts;

    evn_status close(part &p) {
        if (!p.handle) return EVN_OK;
        while (!p.users.empty()) {
            const std::shared_ptr<part> user = p.users.back().lock();
            p.users.pop_back();
            if (user) close(*user);
        }
        const evn_status status = p.close(session, p.handle);
        if (status == EVN_USAGE) return status; /* nothing was closed */
        p.handle = nullptr;
        const auto is_it = [&](const std::shared_ptr<part> &other) { return other.get() == &p; };
        parts.erase(std::remove_if(parts.begin(), parts.end(), is_it), parts.end());
        return status;
    }
    std::shared_ptr<part> add(void *handle, evn_status (*by)(evn_session *, void *)) {
        parts.push_back(std::make_shared<part>(part{handle, by, {}, {}, {}}));
        return parts.back();
    }
    /* Whether this thread may close the session now. */
    evn_status check_time() const {
        if (!(flags & EVN_ANY_CLOSES) && opener != std::this_thread::get_id())
            return evn_fail_text(EVN_USAGE, "session: closed by another thread than its opener's");
        const evn_units *units = evn_session_units(session);
        if (units && evn_units_about(units).running)
            return evn_fail_text(EVN_USAGE, "session: closed from within a body, which must "
                                            "return first");
        return EVN_OK;
    }
    /* Closes places, of which no loop is in use any more; with a loop nothing. */
    void close_places();
    void close_users() { /* exchanges and places; loops are the session's own */
        while (!parts.empty()) {
            const std::shared_ptr<part> last = parts.back();
            if (last->close && close(*last) == EVN_OK) continue;
            last->handle = nullptr;
            if (!parts.empty() && parts.back() == last) parts.pop_back();
        }
    }
};

template <class H, evn_status (*Close)(evn_session *, void *)> class owner {
  public:
    owner() = default;
    owner(owner &&other) noexcept = default;
    owner &operator=(owner &&other) noexcept {
        if (this == &other) return *this;
        release();
        state_ = std::move(other.state_), part_ = std::move(other.part_);
        return *this;
    }
    ~owner() { release(); }

    /* The handle; NULL: closed, moved from, or never opened. */
    H *get() const noexcept { return part_ ? static_cast<H *>(part_->handle) : nullptr; }
    explicit operator bool() const noexcept { return get() != nullptr; }
    void close() { check(release()); }

  protected:
    owner(std::shared_ptr<state> of, H *handle)
        : state_(std::move(of)), part_(state_->add(handle, Close)) {}
    std::shared_ptr<state> state_;
    std::shared_ptr<part> part_;

  private:
    evn_status release() noexcept {
        if (!part_) return EVN_OK;
        const std::shared_ptr<state> of = std::move(state_);
        const std::shared_ptr<part> mine = std::move(part_);
        return of->close(*mine);
    }
};

inline evn_status close_loop(evn_session *session, void *handle) {
    return evn_close_loop(session, static_cast<evn_loop *>(handle));
}
inline evn_status close_place(evn_session *, void *handle) {
    evn_place_close(static_cast<evn_place *>(handle));
    return EVN_OK;
}
inline evn_status close_exchange(evn_session *, void *handle) {
    evn_exchange_close(static_cast<evn_exchange *>(handle));
    return EVN_OK;
}
inline evn_status close_recovery(evn_session *, void *handle) {
    evn_recovery_close(static_cast<evn_recovery *>(handle));
    return EVN_OK;
}
inline evn_status close_schedule(evn_session *, void *handle) {
    evn_schedule_close(static_cast<evn_schedule *>(handle));
    return EVN_OK;
}

inline void state::close_places() {
    for (const std::shared_ptr<part> &p : parts)
        if (p->close == close_loop) return;
    for (const std::shared_ptr<part> &p : std::vector<std::shared_ptr<part>>(parts))
        if (p->close == close_place) close(*p);
}

} // namespace detail

/* ---- in a body ---- */

/* A unit, as <evener/unit.h> has it; a view. */
class unit {
  public:
    explicit unit(evn_unit *handle) noexcept : handle_(handle) {}
    int number() const noexcept { return evn_unit_number(handle_); }
    int cores() const noexcept { return evn_unit_cores(handle_); }
    bool is_cpu() const noexcept { return evn_unit_is_gpu(handle_) == 0; }
    bool is_gpu() const noexcept { return evn_unit_is_gpu(handle_) != 0; }
    evn_unit *get() const noexcept { return handle_; }

  private:
    evn_unit *handle_;
};

/* A kernel of an evener_kernels() source with the types of its parameters, in order: evn_buffer *
 * for EVN_BUFFER and EVN_IN, for EVN_VALUE the type itself (evn_long: long long).
 *
 *     extern "C" const evn_kernel_source heat_kernels;
 *     const evn::kernel<evn_buffer *, evn_buffer *, int> step(heat_kernels, "heat_step");
 *
 * Kinds, number and sizes are compared with the kernel's here, which throws EVN_USAGE; arguments of
 * batch::launch() with these types, when the program is compiled. The source must outlive it. */
template <class... P> class kernel {
  public:
    kernel(const evn_kernel_source &source, const char *name) : source_(&source), name_(name) {
        const evn_kernel_entry *entry = source.entry;
        while (entry->name && std::string(entry->name) != name) entry++;
        if (!entry->name)
            fail("the source \"" + std::string(source.name) + "\" has no such kernel; it has " +
                 names(source));
        constexpr std::size_t count = sizeof...(P);
        const std::array<int, count> here{size_of<P>()...};
        std::size_t there = 0;
        while (entry->parameter[there] != EVN_PARAMETERS_END) there++;
        if (there != count)
            fail("it has " + std::to_string(there) + " parameters, not " + std::to_string(count));
        for (std::size_t i = 0; i < count; i++) {
            const int kind = std::max(entry->parameter[i], int(EVN_PARAMETER_BUFFER));
            const int wanted =
                entry->parameter[i] == EVN_PARAMETER_IN ? EVN_PARAMETER_BUFFER : kind;
            if (here[i] != wanted)
                fail("parameter " + std::to_string(i + 1) + " is " + words(wanted) + ", not " +
                     words(here[i]));
        }
    }
    const evn_kernel_source &source() const noexcept { return *source_; }
    const char *name() const noexcept { return name_; }

  private:
    template <class T> static constexpr int size_of() {
        static_assert(std::is_same_v<T, evn_buffer *> || !std::is_pointer_v<T>,
                      "a kernel's parameter is evn_buffer * or a value; pointers to host memory "
                      "mean nothing on a device");
        static_assert(std::is_trivially_copyable_v<T>, "a kernel's values are trivially copyable");
        return std::is_same_v<T, evn_buffer *> ? int(EVN_PARAMETER_BUFFER) : int(sizeof(T));
    }
    static std::string names(const evn_kernel_source &source) {
        std::string all;
        for (const evn_kernel_entry *e = source.entry; e->name; e++)
            all += (all.empty() ? "" : ", ") + std::string(e->name);
        return all;
    }
    static std::string words(int size) {
        return size == EVN_PARAMETER_BUFFER ? "a buffer"
                                            : "a value of " + std::to_string(size) + " bytes";
    }
    [[noreturn]] void fail(const std::string &text) const {
        throw error(EVN_USAGE, "kernel " + std::string(name_) + ": " + text);
    }
    const evn_kernel_source *source_;
    const char *name_;
};

namespace detail {

inline evn_argument argument(evn_buffer *const &buffer) { return {buffer, nullptr, 0}; }
template <class T> evn_argument argument(const T &value) { return {nullptr, &value, sizeof value}; }

/* The first phase of each subteam in which a core has left its task by an exception. A core that
 * leaves, or skips a task, meets the others at their next barrier; there these see it and leave,
 * too. So no core waits for one that has gone. */
constexpr int never = INT_MAX;
using phases = std::vector<std::atomic<int>>;
struct left {}; /* thrown at a barrier; stays within share() */

} // namespace detail

/* The cores that do a task of batch::share(); <evener/subteam.h>. */
class subteam {
  public:
    int core() const noexcept { return by_->core; }
    int cores() const noexcept { return by_->cores; }
    /* The number of its core 0 in the unit's team, to index memory that only this subteam uses. */
    int first() const noexcept { return by_->first; }
    /* Waits for all cores of the subteam. Where one has thrown, the others leave the task here,
     * too, by an exception that share() expects: a catch (...) of the body has to throw it on. */
    void barrier() const {
        evn_subteam_barrier(by_);
        if (gone_->load() <= ++passed_) throw detail::left{};
    }

  private:
    friend class batch;
    subteam(const evn_subteam *by, std::atomic<int> *gone) : by_(by), gone_(gone) {}
    /* Goes to the next barrier of the others, for good. */
    void leave() const {
        int now = gone_->load();
        while (now > passed_ + 1 && !gone_->compare_exchange_weak(now, passed_ + 1)) {
        }
        evn_subteam_barrier(by_);
    }
    const evn_subteam *by_;
    std::atomic<int> *gone_;
    mutable int passed_ = 0;
};

/* The tasks that a body gets, as <evener/loop.h> has them; a view that lasts as long as the body.
 * for (int t : batch) takes tasks one by one, which measures each. */
class batch {
  public:
    batch(evn_unit *of, evn_batch *handle) noexcept : unit_(of), handle_(handle) {}

    struct end_of_tasks {};
    class iterator {
      public:
        using iterator_category = std::input_iterator_tag;
        using value_type = int;
        using difference_type = std::ptrdiff_t;
        using pointer = const int *;
        using reference = int;
        explicit iterator(evn_batch *of) : of_(of), task_(evn_batch_next(of)) {}
        int operator*() const noexcept { return task_; }
        iterator &operator++() {
            task_ = evn_batch_next(of_);
            return *this;
        }
        void operator++(int) { ++*this; }
        bool operator!=(end_of_tasks) const noexcept { return task_ >= 0; }
        bool operator==(end_of_tasks) const noexcept { return task_ < 0; }

      private:
        evn_batch *of_;
        int task_;
    };
    iterator begin() const { return iterator(handle_); }
    end_of_tasks end() const noexcept { return {}; }

    /* All tasks at once, ascending: their number, and each. */
    int size() const {
        int count = 0;
        evn_batch_tasks(handle_, &count);
        return count;
    }
    int operator[](int i) const {
        int count = 0;
        return evn_batch_tasks(handle_, &count)[i];
    }
    /* Reports the next `count` tasks as done (evn_batch_done()). */
    void done(int count) const { evn_batch_done(handle_, count); }

    evn::unit unit() const noexcept { return evn::unit(unit_); }
    bool on_device() const noexcept { return evn_batch_device(handle_) >= 0; }
    int device() const noexcept { return evn_batch_device(handle_); }

    /* On cores: the memory of region `region` of a task. */
    template <class T> T *host(int task, int region = 0) const {
        void *memory = evn_batch_host(handle_, task, region);
        if (memory) return static_cast<T *>(memory);
        throw error(EVN_USAGE, on_device() ? "batch: host() of a batch on a device; its regions "
                                             "are at() bytes in buffer()"
                                           : evn_message());
    }

    /* On a device: the arena, the byte at which a region begins, and the table of all regions. */
    evn_buffer *buffer() const noexcept { return evn_batch_buffer(handle_); }
    std::size_t at(int task, int region = 0) const { return evn_batch_at(handle_, task, region); }
    evn_buffer *table() const { return evn_batch_table(handle_); }

    /* In a body of births (loop::bear()): number of a task's origins; region `region` of its origin
     * k on cores, and the byte at which it begins on a device. */
    int origins(int task) const {
        const int count = evn_batch_origins(handle_, task);
        if (count < 0) throw error(EVN_USAGE);
        return count;
    }
    template <class T> T *origin(int task, int k = 0, int region = 0) const {
        void *memory = evn_batch_origin_host(handle_, task, k, region);
        if (memory) return static_cast<T *>(memory);
        throw error(EVN_USAGE, on_device() ? "batch: origin() of a batch on a device; its regions "
                                             "are origin_at() bytes in buffer()"
                                           : evn_message());
    }
    std::size_t origin_at(int task, int k = 0, int region = 0) const {
        return evn_batch_origin_at(handle_, task, k, region);
    }

    /* On a device: enqueues a kernel. The arguments have the types of its parameters, exactly. */
    template <class... P, class... A>
    void launch(const kernel<P...> &what, int groups, const A &...argument) const {
        static_assert(sizeof...(A) == sizeof...(P),
                      "as many arguments as the kernel has parameters");
        if constexpr (sizeof...(A) == sizeof...(P)) {
            static_assert((std::is_same_v<A, P> && ...),
                          "each argument has the type of the kernel's parameter");
            const std::array<evn_argument, sizeof...(A)> list{detail::argument(argument)...};
            check(evn_batch_launch(handle_, &what.source(), what.name(), groups, list.data(),
                                   int(list.size())));
        }
    }

    /* Does all tasks of a batch on cores, on all cores of the unit: body(subteam, task), called on
     * each core of a task's subteam (evn_batch_share()). Exceptions reach the caller, when all
     * cores have come back; tasks that were not begun are left out then. */
    template <class F> void share(F &&body) const {
        struct call {
            std::remove_reference_t<F> &body;
            detail::phases gone;
            detail::trap trap;
        } whole{body, detail::phases(std::size_t(evn_unit_cores(unit_))), {}};
        for (std::atomic<int> &gone : whole.gone) gone.store(detail::never);
        const auto task = [](const evn_subteam *by, int number, void *arg) {
            call &all = *static_cast<call *>(arg);
            const subteam cores(by, &all.gone[std::size_t(by->first)]);
            bool closed = false;
            const evn_status status = all.trap.caught() ? EVN_STOPPED : all.trap.call([&] {
                try {
                    all.body(cores, number);
                    if (cores.cores() > 1) cores.barrier();
                } catch (const detail::left &) {
                }
                closed = true;
            });
            if (status != EVN_OK && !closed && cores.cores() > 1) cores.leave();
        };
        const evn_status status = evn_batch_share(handle_, nullptr, 0, task, &whole);
        whole.trap.rethrow();
        check(status);
    }

    evn_batch *get() const noexcept { return handle_; }

  private:
    evn_unit *unit_;
    evn_batch *handle_;
};

/* ---- data ---- */

enum class access { read = EVN_READ, write = EVN_WRITE, both = EVN_BOTH };

/* Regions that move to where they are used; <evener/place.h>. Made by session::open_place(). */
class place : public detail::owner<evn_place, detail::close_place> {
  public:
    place() = default;

    /* Registers the elements of a contiguous container or span, which must stay where they are: a
     * vector must not grow. Elements are trivially copyable and not const. Returns the region's
     * number. */
    template <class C> int add(C &&elements) {
        using value = detail::element<C>;
        static_assert(std::is_trivially_copyable_v<value>,
                      "a region is copied byte by byte: its elements must be trivially copyable");
        static_assert(!std::is_const_v<value>,
                      "a region is written: its elements must not be const");
        static_assert(std::is_lvalue_reference_v<C> || !std::is_const_v<detail::element<const C>>,
                      "a temporary container is gone before its region is used; name it, or give "
                      "a span of it");
        return note(add(std::data(elements), std::size(elements) * sizeof(value)), sizeof(value));
    }
    int add(void *memory, std::size_t bytes) {
        int region = -1;
        check(evn_place_add(get(), memory, bytes, &region));
        return note(region, 0);
    }
    /* A region whose memory the place makes. */
    int make(std::size_t bytes) {
        int region = -1;
        check(evn_place_make(get(), bytes, &region));
        return note(region, 0);
    }
    void remove(int region) { check(evn_place_remove(get(), region)); }

  private:
    int note(int region, std::size_t element) {
        std::vector<std::size_t> &all = part_->element;
        if (all.size() <= std::size_t(region)) all.resize(std::size_t(region) + 1);
        all[std::size_t(region)] = element;
        return region;
    }
    friend class session;
    friend class loop;
    using owner::owner;
};

/* ---- the loop ---- */

/* One end of a face: a region of a task by its number among the task's (0: the first), and where
 * value (a, b, c) of the face lies in it, at + a * stride[0] + b * stride[1] + c * stride[2], all
 * in values. */
struct face_end {
    int task, region;
    long long at;
    std::array<long long, 3> stride;
};

/* A face of n[0] x n[1] x n[2] values for loop::open_exchange(): those of `from` are copied to
 * `to`. The last index is the contiguous one, if one is. For a column of ny values, in blocks whose
 * rows have `wide` and `narrow` values:
 *
 *     evn::face({1, 1, ny}, {left, 0, last, {0, 0, wide}}, {right, 0, ghost, {0, 0, narrow}})
 *
 * Faces between two resolutions have more members; <evener/exchange.h>. */
inline evn_face face(const std::array<int, 3> &n, const face_end &from, const face_end &to) {
    evn_face made{};
    made.from = from.task, made.to = to.task;
    made.from_region = from.region, made.to_region = to.region;
    made.from_at = from.at, made.to_at = to.at;
    std::copy(n.begin(), n.end(), made.n);
    std::copy(from.stride.begin(), from.stride.end(), made.from_stride);
    std::copy(to.stride.begin(), to.stride.end(), made.to_stride);
    return made;
}

class loop;

/* Copies faces between tasks, between two instances; <evener/exchange.h>. Made by
 * loop::open_exchange(). */
class exchange : public detail::owner<evn_exchange, detail::close_exchange> {
  public:
    exchange() = default;
    void run() { check(evn_exchange_run(get())); }
    /* In two halves: true where each batch of the next instance has to call finish(). */
    bool start() {
        int open = 0;
        check(evn_exchange_start(get(), &open));
        return open != 0;
    }
    void finish(const batch &of) {
        check(evn_exchange_finish(get(), of.unit().get(), of.device()));
    }
    /* More faces, as after loop::change(), and without some, by their lasting numbers. */
    template <class C> void add(const C &faces) {
        check(evn_exchange_add(get(), detail::number(std::size(faces), "exchange"),
                               std::data(faces), nullptr));
    }
    template <class C> void drop(const C &numbers) {
        check(evn_exchange_drop(get(), detail::number(std::size(numbers), "exchange"),
                                std::data(numbers)));
    }

  private:
    friend class loop;
    using owner::owner;
};

/* Callbacks of a recovery, any callables, or empty: evn_recovery_calls has their meaning. go_on()
 * calls them, and throws what they throw; of several exceptions the first. */
struct recovery_calls {
    std::function<void(unit)> lost;
    std::function<void(const char *text)> told;
    std::function<void(int generation)> rebuild;
};

namespace detail {

struct callbacks {
    recovery_calls calls;
    trap *now = nullptr; /* of the go_on() under way */

    static callbacks &of(void *arg) { return *static_cast<callbacks *>(arg); }
    evn_recovery_calls table() {
        evn_recovery_calls made{};
        made.arg = this;
        if (calls.lost)
            made.lost = [](evn_unit *u, void *arg) {
                of(arg).now->call([&] { of(arg).calls.lost(unit(u)); });
            };
        if (calls.told)
            made.told = [](const char *text, void *arg) {
                of(arg).now->call([&] { of(arg).calls.told(text); });
            };
        if (calls.rebuild)
            made.rebuild = [](void *arg, int generation) {
                return of(arg).now->call([&] { of(arg).calls.rebuild(generation); });
            };
        return made;
    }
};

} // namespace detail

/* Keeps the state, and continues on the remaining units when a device fails; <evener/recover.h>.
 * Made by loop::open_recovery().
 *
 *     for (int step = 0; step < steps;)
 *         try {
 *             recovery.keep(step);
 *             loop.run(body);
 *             step++;
 *         } catch (const evn::error &failure) {
 *             recovery.go_on(failure, step);
 *             if (step < 0) step = begin_anew();
 *         }
 *
 * Where tasks come and go (loop::change()), recovery_calls::rebuild makes those of the kept state
 * again, by tasks() and loop::change(). */
class recovery : public detail::owner<evn_recovery, detail::close_recovery> {
  public:
    recovery() = default;
    void keep(int step) { check(evn_recovery_keep(get(), step)); }
    /* Sets `step` to the restored one; throws where the failure is none of a device's. */
    void go_on(const error &failure, int &step) {
        detail::trap trap;
        const std::shared_ptr<void> kept = part_ ? part_->kept : nullptr;
        if (kept) detail::callbacks::of(kept.get()).now = &trap;
        const evn_status status =
            evn_recovery_go_on(get(), evn_fail_text(failure.status(), failure.what()), &step);
        if (kept) detail::callbacks::of(kept.get()).now = nullptr;
        trap.rethrow();
        check(status);
    }
    /* In recovery_calls::rebuild: the tasks of the kept state by their numbers of now; -1: gone. */
    std::vector<int> tasks() const {
        int count = 0;
        const int *now = evn_recovery_tasks(get(), &count);
        return now ? std::vector<int>(now, now + count) : std::vector<int>();
    }

  private:
    friend class loop;
    using owner::owner;
};

/* Runs tasks; <evener/loop.h>. Made by session::open_loop(). */
class loop : public detail::owner<evn_loop, detail::close_loop> {
  public:
    loop() = default;

    /* One instance: body(batch) on the units, every task once. */
    template <class F> void run(F &&body) { call(evn_loop_run, body); }
    /* Every task once where it is now; the schedule does not learn. */
    template <class F> void visit(F &&body) { call(evn_loop_visit, body); }
    /* The same on the host's cores. */
    template <class F> void visit_host(F &&body, access how = access::both) {
        call([&](evn_loop *self, evn_body function,
                 void *arg) { return evn_loop_visit_host(self, function, arg, evn_access(how)); },
             body);
    }

    /* Goes on with other tasks; <evener/change.h>. Arrays of `other` are those of containers. */
    void change(const evn_change &other) {
        check(evn_loop_change(get(), &other));
        const std::shared_ptr<detail::part> its = place_.lock();
        const std::size_t each = part_->element.size();
        for (std::size_t i = 0; its && other.region && i < std::size_t(other.tasks) * each; i++) {
            const std::size_t t = i / each;
            if (other.kept && other.kept[t]) continue;
            std::size_t &known = part_->element[i % each];
            if (its->element_of(other.region[i]) != known) known = 0;
        }
    }
    /* Births: body(batch) for the tasks that the last change bore (evn_loop_bear()). */
    template <class F> void bear(F &&body, access origins = access::read) {
        call([&](evn_loop *self, evn_body function,
                 void *arg) { return evn_loop_bear(self, function, arg, evn_access(origins)); },
             body);
    }
    int generation() const { return evn_loop_about(get()).generation; }

    /* New weights of all tasks, from the next instance on. */
    template <class C> void weights(const C &weight) {
        static_assert(std::is_same_v<detail::element<const C>, const double>, "weights are double");
        if (std::size(weight) != std::size_t(tasks()))
            throw error(EVN_USAGE, "loop: " + std::to_string(std::size(weight)) + " weights for " +
                                       std::to_string(tasks()) + " tasks");
        check(evn_loop_weights(get(), std::data(weight)));
    }

    /* Makes regions follow tasks: as many as `how` has for each, region[t * n + i] is number i of
     * task t; -1: none (evn_session_place()). */
    template <class C>
    void use(place &regions, const C &region, std::initializer_list<access> how) {
        static_assert(std::is_same_v<std::remove_const_t<detail::element<const C>>, int>,
                      "regions have numbers of type int");
        if (std::size(region) != std::size_t(tasks()) * how.size())
            throw error(EVN_USAGE, "loop: " + std::to_string(std::size(region)) + " regions for " +
                                       std::to_string(tasks()) + " tasks of " +
                                       std::to_string(how.size()) + " each");
        std::vector<evn_access> each;
        for (const access a : how) each.push_back(evn_access(a));
        check(evn_session_place(session(), get(), regions.get(), int(each.size()),
                                std::data(region), each.data()));
        place_ = regions.part_;
        part_->element.assign(how.size(), 0);
        for (std::size_t i = 0; i < how.size() && tasks() > 0; i++) {
            const auto of = [&](std::size_t t) {
                return regions.part_->element_of(std::data(region)[t * how.size() + i]);
            };
            std::size_t same = of(0);
            for (std::size_t t = 1; t < std::size_t(tasks()) && same; t++)
                if (of(t) != same) same = 0;
            part_->element[i] = same;
        }
    }
    /* Brings the results home, over ranks to rank 0 (evn_session_collect()). */
    void collect() { check(evn_session_collect(session(), get())); }
    /* Each task's value from the rank that has the task to all ranks (evn_loop_allgather()). */
    template <class C> void allgather(C &values) {
        using value = detail::element<C>;
        static_assert(std::is_trivially_copyable_v<value> && !std::is_const_v<value>,
                      "values of tasks are copied byte by byte: trivially copyable, not const");
        if (std::size(values) != std::size_t(tasks()))
            throw error(EVN_USAGE, "loop: " + std::to_string(std::size(values)) + " values for " +
                                       std::to_string(tasks()) + " tasks");
        check(evn_loop_allgather(get(), std::data(values), sizeof(value)));
    }

    /* An exchange of values of type T between regions of the loop's tasks; a T is one element of
     * theirs or several. */
    template <class T, class C> exchange open_exchange(const C &faces) {
        static_assert(std::is_trivially_copyable_v<T>,
                      "values that are exchanged are copied byte by byte");
        for (std::size_t i = 0; i < std::size(faces); i++)
            for (const int region :
                 {std::data(faces)[i].from_region, std::data(faces)[i].to_region})
                if (const std::size_t one = part_ ? part_->element_of(region) : 0)
                    if (sizeof(T) % one != 0)
                        throw error(EVN_USAGE, "exchange: face " + std::to_string(i) +
                                                   " has values of " + std::to_string(sizeof(T)) +
                                                   " bytes, and the elements of "
                                                   "region " +
                                                   std::to_string(region) + " have " +
                                                   std::to_string(one) +
                                                   "; expected one of these or several");
        return open_exchange(sizeof(T), std::data(faces), std::size(faces));
    }
    exchange open_exchange(std::size_t element, const evn_face *face, std::size_t count) {
        evn_exchange *made = nullptr;
        check(evn_exchange_open(&made, get(), element, detail::number(count, "exchange"), face,
                                nullptr));
        return with(exchange(state_, made));
    }
    /* A copy of the state every `every` steps; told(text, arg) gets a line for each loss. */
    recovery open_recovery(int every, void (*told)(const char *, void *) = nullptr,
                           void *arg = nullptr) {
        const evn_recovery_calls calls = {nullptr, told, arg, nullptr};
        evn_recovery *made = nullptr;
        check(evn_recovery_open(&made, get(), every, &calls));
        return with(recovery(state_, made));
    }
    recovery open_recovery(int every, recovery_calls calls) {
        const auto kept = std::make_shared<detail::callbacks>();
        kept->calls = std::move(calls);
        const evn_recovery_calls table = kept->table();
        evn_recovery *made = nullptr;
        check(evn_recovery_open(&made, get(), every, &table));
        recovery owned = with(recovery(state_, made));
        owned.part_->kept = kept;
        return owned;
    }

    void name(const char *text) { check(evn_name_loop(session(), get(), text)); }
    int tasks() const { return evn_schedule_problem(evn_loop_schedule(get()))->tasks; }
    bool has(int task) const { return evn_loop_has(get(), task) != 0; }
    evn_loop_totals sum() const { return evn_loop_sum(get()); }
    evn_loop_medians median() const { return evn_loop_median(get()); }
    void reset_stats() { evn_loop_reset_stats(get()); }

  private:
    friend class session;
    using owner::owner;
    evn_session *session() const noexcept { return state_ ? state_->session : nullptr; }

    template <class F, class B> void call(F &&function, B &body) {
        struct context {
            B &body;
            detail::trap trap;
        } whole{body, {}};
        const auto each = [](evn_unit *of, evn_batch *handle, void *arg) -> evn_status {
            context &all = *static_cast<context *>(arg);
            return all.trap.call([&] { all.body(batch(of, handle)); });
        };
        const evn_status status = function(get(), each, &whole);
        whole.trap.rethrow();
        check(status);
    }
    /* What uses the loop and its place is closed before them. */
    template <class T> T with(T user) {
        part_->users.push_back(user.part_);
        if (const std::shared_ptr<detail::part> its = place_.lock())
            its->users.push_back(user.part_);
        return user;
    }
    std::weak_ptr<detail::part> place_;
};

/* ---- schedules ---- */

/* A schedule with all that the session knows, for plans, checkpoints and session::open_loop();
 * <evener/schedule.h>. Made by session::open_schedule(). Closing it closes its loop before. */
class schedule : public detail::owner<evn_schedule, detail::close_schedule> {
  public:
    schedule() = default;
    /* The assignment as a line of text, and going on from one (evn_schedule_export(), .._import()).
     */
    std::string text() const {
        const std::unique_ptr<char, void (*)(void *)> made(evn_schedule_export(get()), std::free);
        if (!made) throw error(EVN_MEMORY);
        return made.get();
    }
    void restore(const std::string &text) { check(evn_schedule_import(get(), text.c_str())); }

  private:
    friend class session;
    using owner::owner;
};

/* ---- the session ---- */

/* Flags of a session, joined by |: those of <evener/open.h> and <evener/unit.h>. */
inline constexpr unsigned over_ranks = EVN_OVER_RANKS, teams = EVN_TEAMS,
                          any_closes = EVN_ANY_CLOSES, no_environment = EVN_NO_ENVIRONMENT,
                          units_later = EVN_UNITS_LATER, oversubscribe = EVN_OVERSUBSCRIBE,
                          describe_only = EVN_DESCRIBE_ONLY, stay_bound = EVN_STAY_BOUND;

/* Machine, units, loops, record and trace; <evener/open.h>. */
class session {
  public:
    session() : session(0U) {}
    explicit session(unsigned flags, const char *units = nullptr, const char *devices = nullptr)
        : state_(std::make_shared<detail::state>()), unwinding_(std::uncaught_exceptions()) {
        state_->flags = flags;
        check(evn_open(&state_->session, units, devices, flags));
    }
    /* Over ranks, or on a machine, that the program has opened itself, and closes after the session
     * (evn_open_with()). */
    explicit session(const evn_open_options &options)
        : state_(std::make_shared<detail::state>()), unwinding_(std::uncaught_exceptions()) {
        state_->flags = options.flags;
        check(evn_open_with(&state_->session, &options));
    }
    /* Over the ranks of a communicator of the program's own, by MPI_Comm_c2f() (evn_open_comm()).
     */
    static session over(int comm, unsigned flags = 0, const char *units = nullptr,
                        const char *devices = nullptr) {
        session made{std::make_shared<detail::state>(), std::uncaught_exceptions()};
        made.state_->flags = flags;
        check(evn_open_comm(&made.state_->session, comm, units, devices, flags));
        return made;
    }
    session(session &&other) noexcept = default;
    session &operator=(session &&other) noexcept {
        if (this == &other) return *this;
        end();
        state_ = std::move(other.state_), unwinding_ = other.unwinding_;
        return *this;
    }
    ~session() { end(); }

    /* Closes all that was opened in it, and publishes record and trace; throws where these cannot
     * be written, when all is closed. */
    void close() { check(close_all()); }

    /* A loop over tasks of unknown weight; `instances`: 0, or how many will be run. */
    loop open_loop(int tasks, int instances = 0, const char *schedule = nullptr) {
        evn_problem problem{};
        problem.tasks = tasks, problem.instances = instances;
        return open_loop(problem, schedule);
    }
    /* A loop over a task for each weight, a contiguous container of double. */
    template <class C,
              class = std::enable_if_t<std::is_same_v<detail::element<const C>, const double>>>
    loop open_loop(const C &weight, int instances = 0, const char *schedule = nullptr) {
        evn_problem problem{};
        problem.tasks = detail::number(std::size(weight), "loop");
        problem.weight = std::data(weight), problem.instances = instances;
        return open_loop(problem, schedule);
    }
    loop open_loop(const evn_problem &problem, const char *schedule = nullptr) {
        evn_loop *made = nullptr;
        check(evn_open_loop(&made, get(), schedule, &problem));
        return loop(state_, made);
    }
    /* A loop with a schedule that stays the program's (evn_open_loop_on()). */
    loop open_loop(schedule &with) {
        evn_loop *made = nullptr;
        check(evn_open_loop_on(&made, get(), with.get()));
        loop owned(state_, made);
        with.part_->users.push_back(owned.part_);
        return owned;
    }
    /* `text` and `problem` as of open_loop(). */
    schedule open_schedule(const evn_problem &problem, const char *text = nullptr) {
        evn_schedule *made = nullptr;
        check(evn_session_schedule(&made, get(), text, &problem));
        return schedule(state_, made);
    }
    /* Other units, once all loops are closed, or none; places of the former ones are closed
     * (evn_session_units_open(), .._close()). */
    void open_units(const char *units, const char *devices = nullptr, unsigned flags = 0) {
        if (get()) state_->close_places();
        check(evn_session_units_open(get(), units, devices, flags));
    }
    void close_units() {
        if (get()) state_->close_places();
        check(evn_session_units_close(get()));
    }
    /* Regions of the session's units; `share`: the part of a device's memory that they may use. */
    place open_place(double share = 0.5) {
        evn_place *made = nullptr;
        check(evn_place_open(&made, units(), share));
        return place(state_, made);
    }

    int rank() const noexcept { return evn_session_rank(get()); }
    evn_units *units() const noexcept { return evn_session_units(get()); }
    /* The list of units, `2:CPU:1`. */
    const char *text() const noexcept { return evn_units_text(units()); }
    evn_session *get() const noexcept { return state_ ? state_->session : nullptr; }

  private:
    session(std::shared_ptr<detail::state> state, int unwinding)
        : state_(std::move(state)), unwinding_(unwinding) {}
    evn_status close_all() noexcept {
        if (!get()) return EVN_OK;
        const evn_status status = state_->check_time();
        if (status != EVN_OK) return status;
        state_->close_users();
        return evn_close(std::exchange(state_->session, nullptr));
    }
    void give_up() noexcept {
        const bool stale = *evn_message() != '\0';
        const std::string last =
            stale ? std::string("; the last failure here: ") + evn_message() : "";
        if (state_->check_time() != EVN_OK) return;
        state_->close_users();
        evn_fail_text(EVN_BODY, ("session: an exception has ended it" + last).c_str());
        evn_abandon(std::exchange(state_->session, nullptr));
    }
    void end() noexcept {
        if (!get()) return;
        if (std::uncaught_exceptions() > unwinding_) return give_up();
        const int first = rank() == 0;
        if (close_all() == EVN_OK || !first) return;
        std::fprintf(stderr, "evener: %s; session::close() throws this instead\n", evn_message());
    }
    std::shared_ptr<detail::state> state_;
    int unwinding_; /* exceptions under way when it was made */
};

} // namespace evn

#endif
