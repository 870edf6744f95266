// Other people's C++ on <evener.hpp>: exceptions of bodies on any unit and core, owners closed in
// any order, records that are whole or not there, regions of containers, kernels with types,
// recovery, tasks that come and go, units and schedules of a session. Run: ctest -R
// cpp-header-quick. usage: program FOLDER
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <evener.hpp>
#include <fstream>
#include <iostream>
#include <numeric>
#include <optional>
#include <sstream>
#include <stdexcept>
#if __cplusplus >= 202002L
#    include <span>
#endif

extern "C" const evn_kernel_source steps_kernels;
using step_kernel = evn::kernel<evn_buffer *, evn_buffer *, double>;

static int failures = 0, checks = 0;
static std::string folder;

static void is(bool right, const char *text, int line) {
    checks++;
    if (right) return;
    failures++;
    std::cout << "line " << line << ": not so: " << text << "\n";
}
#define IS(...) is(__VA_ARGS__, #__VA_ARGS__, __LINE__)

// The failure of a call, "" where there is none.
template <class E = evn::error, class F> static std::string failure(F &&call) {
    try {
        call();
    } catch (const E &e) {
        return e.what();
    }
    return "";
}
static bool has(const std::string &text, const char *part) {
    return text.find(part) != std::string::npos;
}
static std::string read(const std::string &file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}
// A face of one value.
static evn_face value(int from, int to, int from_at, int to_at) {
    evn_face face{};
    face.from = from, face.to = to, face.from_at = from_at, face.to_at = to_at;
    for (int i = 0; i < 3; i++) face.from_stride[i] = face.to_stride[i] = face.n[i] = 1;
    return face;
}
static void record_to(const std::string &file) { setenv("EVENER_RECORD", file.c_str(), 1); }

struct own : std::runtime_error {
    own(int t, int c) : std::runtime_error("task " + std::to_string(t)), task(t), core(c) {}
    int task, core;
};

// A body that throws at one task ends run() with that object, whichever unit has it; the loop goes
// on afterwards.
static void test_thrown() {
    evn::session session(evn::oversubscribe, "3:CPU:1");
    evn::loop loop = session.open_loop(12, 0, "static");
    for (int bad = 0; bad < 12; bad++) {
        std::array<int, 12> done{};
        const auto body = [&](const evn::batch &batch) {
            for (int t : batch) {
                if (t == bad) throw own(t, 7);
                done[std::size_t(t)]++;
            }
        };
        for (int kind = 0; kind < 3; kind++) try {
                if (kind == 0) loop.run(body);
                if (kind == 1) loop.visit(body);
                if (kind == 2) loop.visit_host(body, evn::access::read);
                IS(kind < 0);
            } catch (const own &e) {
                IS(e.task == bad && e.core == 7);
                IS(e.what() == "task " + std::to_string(bad));
            }
    }
    IS(failure<std::exception>([&] {
           loop.run([](const evn::batch &) { throw std::bad_alloc(); });
       }) == "std::bad_alloc");
    int number = 0;
    try {
        loop.run([](const evn::batch &) { throw 42; });
    } catch (int n) {
        number = n;
    }
    IS(number == 42);
    std::array<int, 12> count{};
    loop.run([&](const evn::batch &batch) {
        for (int t : batch) count[std::size_t(t)]++;
    });
    IS(count == std::array<int, 12>{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1});
    IS(loop.sum().instances == 1);
    // a status of the library keeps it
    try {
        loop.run([](const evn::batch &batch) { batch.host<double>(0); });
    } catch (const evn::error &e) {
        IS(e.status() == EVN_USAGE && *e.what());
    }
    // a mutable body that counts, and one that is const
    struct counter {
        std::atomic<int> calls{0};
        void operator()(const evn::batch &batch) {
            calls += batch.size();
            for (int i = 0; i < batch.size(); i++) IS(batch[i] >= 0 && batch[i] < 12);
            batch.done(batch.size());
        }
    } counter;
    loop.run(counter);
    IS(counter.calls == 12);
}

// Exceptions on any core of a subteam, before, between and behind barriers: all cores come back.
static void test_subteams() {
    evn::session session(evn::oversubscribe | evn::teams, "2:CPU:3");
    std::vector<double> weight(10, 1);
    weight[0] = 30, weight[9] = 30; // for all cores of a unit
    evn::loop loop = session.open_loop(weight, 0, "static");
    std::array<std::atomic<int>, 10> visits{};
    loop.run([&](const evn::batch &batch) {
        batch.share([&](const evn::subteam &by, int task) {
            IS(by.core() >= 0 && by.core() < by.cores() && by.first() + by.cores() <= 3);
            by.barrier();
            if (by.core() == 0) visits[std::size_t(task)]++;
        });
    });
    for (auto &n : visits) IS(n == 1);
    for (int bad = 0; bad < 10; bad++)
        for (int core = 0; core < 3; core++)
            for (int phase = 0; phase < 3; phase++) {
                std::string said = failure<own>([&] {
                    loop.run([&](const evn::batch &batch) {
                        batch.share([&](const evn::subteam &by, int task) {
                            for (int at = 0; at < 3; at++) {
                                if (task == bad && at == phase && by.core() == core % by.cores())
                                    throw own(task, by.core());
                                if (at < 2) by.barrier();
                            }
                        });
                    });
                });
                IS(said == "task " + std::to_string(bad));
            }
    // all cores at once
    IS(has(failure<own>([&] {
               loop.run([&](const evn::batch &batch) {
                   batch.share(
                       [](const evn::subteam &by, int task) { throw own(task, by.core()); });
               });
           }),
           "task "));
}

// Regions of vectors, arrays and spans, moved to an emulated device and home; faces between tasks;
// kernels with types.
static void test_data() {
    evn::session session(evn::oversubscribe, "1:CPU:1,1:GPU:1", "emulated");
    evn::loop loop = session.open_loop(4, 0, "static:chunk=1");
    evn::place place = session.open_place();
    std::vector<double> first(64, 1.0);
    std::array<double, 64> second{};
    double third[64] = {};
    std::vector<double> fourth(64, 4.0);
    std::vector<int> region{place.add(first), place.add(second), place.add(third)};
#if __cplusplus >= 202002L
    region.push_back(place.add(std::span(fourth).first(64)));
#else
    region.push_back(place.add(fourth.data(), 64 * sizeof(double)));
#endif
    IS(has(failure([&] { place.add(first); }), "overlap"));
    IS(has(failure([&] {
               loop.use(place, std::vector<int>{0, 1}, {evn::access::both});
           }),
           "2 regions for 4 tasks"));
    loop.use(place, region, {evn::access::both});
    IS(has(failure([&] { loop.weights(std::vector<double>(3)); }), "3 weights for 4 tasks"));

    evn::loop two = session.open_loop(2);
    std::vector<float> left(8), right(8);
    const std::vector<int> small{place.add(left), place.add(right)};
    two.use(place, small, {evn::access::both});
    const std::vector<evn_face> between{value(0, 1, 6, 0)};
    IS(has(failure([&] { two.open_exchange<short>(between); }),
           "face 0 has values of 2 bytes, and the elements of region 0 have 4"));
    two.open_exchange<std::array<float, 1>>(between).close();
    two.close();
    for (const int r : small) place.remove(r);

    const step_kernel step(steps_kernels, "add");
    using namespace std::string_literals;
    IS(failure([&] { step_kernel(steps_kernels, "subtract"); }) ==
       "kernel subtract: the source \"steps\" has no such kernel; it has add"s);
    IS(failure([&] { evn::kernel<evn_buffer *, evn_buffer *>(steps_kernels, "add"); }) ==
       "kernel add: it has 3 parameters, not 2"s);
    IS(failure([&] { evn::kernel<evn_buffer *, evn_buffer *, float>(steps_kernels, "add"); }) ==
       "kernel add: parameter 3 is a value of 8 bytes, not a value of 4 bytes"s);
    IS(failure([&] { evn::kernel<evn_buffer *, double, double>(steps_kernels, "add"); }) ==
       "kernel add: parameter 2 is a buffer, not a value of 8 bytes"s);

    std::vector<evn_face> faces;
    for (int t = 0; t < 3; t++) faces.push_back(value(t, t + 1, 62, 0));
    evn::exchange exchange = loop.open_exchange<double>(faces);
    double by = 0.5;
    int devices = 0;
    for (int n = 0; n < 3; n++) {
        loop.run([&](const evn::batch &batch) {
            if (batch.on_device()) {
                IS(batch.unit().is_gpu() && !batch.unit().is_cpu() && batch.device() == 0);
                IS(has(failure([&] { batch.host<double>(batch[0]); }), "on a device"));
                devices++;
                return batch.launch(step, batch.size(), batch.buffer(), batch.table(), by);
            }
            for (int t : batch)
                for (double *p = batch.host<double>(t), *end = p + 64; p < end; p++) *p += by;
        });
        if (n == 2) break;
        exchange.run();
    }
    IS(devices == 3);
    loop.collect();
    IS(first[5] == 2.5 && second[5] == 1.5 && third[5] == 1.5 && fourth[5] == 5.5);
    // task 1 has task 0's value of the second step, and so on
    IS(second[0] == 2.5 && third[0] == 1.5 && fourth[0] == 1.5);
    IS(session.text() == "1:CPU:1,1:GPU:1"s && session.rank() == 0);
    // the library's refusal in a body is the caller's failure
    const std::string refused = failure([&] {
        loop.run([&](const evn::batch &batch) {
            batch.launch(step, -1, batch.buffer(), batch.table(), by);
        });
    });
    IS(has(refused, "\"add\""));
    session.close();
    IS(first[5] == 2.5);
}

// Owners move, close in any order, and say so when used afterwards.
static void test_owners() {
    static_assert(!std::is_copy_constructible_v<evn::session> &&
                  !std::is_copy_constructible_v<evn::loop>);
    static_assert(!std::is_copy_constructible_v<evn::place> &&
                  !std::is_copy_constructible_v<evn::exchange>);
    static_assert(std::is_nothrow_move_constructible_v<evn::session> &&
                  std::is_nothrow_move_assignable_v<evn::loop>);
    static_assert(std::is_nothrow_copy_constructible_v<evn::error>);
    std::vector<double> data(32);
    const auto nothing = [](const evn::batch &) {};
    for (int order = 0; order < 5; order++) {
        std::optional<evn::session> session(std::in_place, evn::oversubscribe, "2:CPU:1");
        std::optional<evn::loop> loop(session->open_loop(2));
        std::optional<evn::place> place(session->open_place());
        loop->use(
            *place,
            std::array<int, 2>{place->add(data.data(), 128), place->add(data.data() + 16, 128)},
            {evn::access::both});
        std::optional<evn::exchange> exchange(
            loop->open_exchange<double>(std::array<evn_face, 1>{value(0, 1, 0, 0)}));
        std::optional<evn::recovery> recovery(loop->open_recovery(5));
        evn::exchange moved = std::move(*exchange);
        IS(!exchange->get() && moved);
        *exchange = std::move(moved);
        loop->run(nothing);
        if (order == 0) session->close();
        if (order == 1) session.reset();
        if (order == 2) loop.reset();
        if (order == 3) place->close(), IS(failure([&] { place->add(data); }) != "");
        if (order == 4)
            recovery.reset(), exchange.reset(), place.reset(), loop.reset(), session.reset();
        if (exchange) IS(!exchange->get()), IS(has(failure([&] { exchange->run(); }), "NULL"));
        if (loop && order < 2) IS(has(failure([&] { loop->run(nothing); }), "NULL"));
        if (order == 0) IS(has(failure([&] { session->open_loop(3); }), "NULL")), session->close();
    }
    // a loop for each of many
    evn::session session(evn::oversubscribe, "1:CPU:1");
    std::vector<evn::loop> loops;
    for (int i = 0; i < 20; i++) loops.push_back(session.open_loop(i + 1));
    loops.erase(loops.begin(), loops.begin() + 10);
    for (evn::loop &loop : loops) loop.run(nothing), loop.close();
    evn::loop within = session.open_loop(1);
    IS(has(failure([&] { within.run([&](const evn::batch &) { session.close(); }); }),
           "within a body"));
    evn::session other = std::move(session);
    IS(!session.get() && other.get());
    std::string said;
    std::thread([&] { said = failure([&] { other.close(); }); }).join();
    IS(has(said, "another thread"));
    other.close();
    // errors keep their message, whatever fails after them
    std::optional<evn::error> kept;
    try {
        evn::session wrong(0, "4:CPUS:4");
    } catch (const evn::error &e) {
        kept = e;
    }
    IS(failure([&] { evn::session wrong(0, "x"); }) != "");
    IS(kept && kept->status() == EVN_USAGE && has(kept->what(), "unknown family \"CPUS\""));
}

// Record: published by close() and by the destructor, not where an exception ended the session; a
// failure is thrown, or printed.
static void test_records() {
    const std::string file = folder + "/record.json";
    record_to(file);
    {
        evn::session session(evn::oversubscribe, "1:CPU:1");
        evn::loop loop = session.open_loop(3);
        loop.name("cells");
        loop.run([](const evn::batch &) {});
    }
    const std::string first = read(file);
    IS(has(first, "\"cells\""));
    IS(failure<own>([] {
           evn::session session(evn::oversubscribe, "2:CPU:1");
           evn::loop loop = session.open_loop(3);
           evn::place place = session.open_place();
           loop.run([](const evn::batch &batch) {
               for (int t : batch) throw own(t, 0);
           });
       }) != "");
    IS(read(file) == first);
    // a session that lives within the handling of another exception is no failed one
    try {
        throw 1;
    } catch (int) {
        evn::session session(evn::oversubscribe, "3:CPU:1");
        session.open_loop(5).run([](const evn::batch &) {});
    }
    IS(read(file) != first);
    record_to("/dev/full");
    IS(failure([] {
           evn::session session(evn::oversubscribe, "1:CPU:1");
           evn::loop loop = session.open_loop(1);
           session.close();
       }) != "");
    std::fflush(stderr);
    const std::string said = folder + "/said";
    FILE *const kept = stderr;
    FILE *const into = std::fopen(said.c_str(), "w");
    stderr = into;
    {
        evn::session session(evn::oversubscribe, "1:CPU:1");
        evn::loop loop = session.open_loop(1);
    }
    stderr = kept;
    std::fclose(into);
    IS(has(read(said), "/dev/full") && has(read(said), "session::close() throws"));
    unsetenv("EVENER_RECORD");
}

// A device fails in mid-run: the steps since the copy are done again, to the same values.
static void test_recovery() {
    evn::session session(evn::oversubscribe, "1:CPU:1,1:GPU:1", "emulated:1,fail=kernel@6");
    evn::loop loop = session.open_loop(6, 0, "static:chunk=1");
    evn::place place = session.open_place();
    std::vector<std::vector<double>> block(6, std::vector<double>(64));
    std::vector<int> region;
    for (auto &b : block) region.push_back(place.add(b));
    loop.use(place, region, {evn::access::both});
    std::string told;
    evn::recovery recovery = loop.open_recovery(
        4, [](const char *text, void *into) { *static_cast<std::string *>(into) += text; }, &told);
    const step_kernel add(steps_kernels, "add");
    int runs = 0;
    for (int step = 0; step < 12; runs++) try {
            recovery.keep(step);
            loop.run([&](const evn::batch &batch) {
                const double by = 1 + step;
                if (batch.on_device())
                    return batch.launch(add, batch.size(), batch.buffer(), batch.table(), by);
                for (int t : batch)
                    for (int i = 0; i < 64; i++) batch.host<double>(t)[i] += by;
            });
            step++;
        } catch (const evn::error &e) {
            recovery.go_on(e, step);
            IS(step == 4);
        }
    IS(runs == 12 + 2 && told != "");
    loop.collect();
    for (auto &b : block) IS(b == std::vector<double>(64, 78.0));
    IS(has(failure([&] {
               int step = 0;
               recovery.go_on(evn::error(EVN_BODY, "no device's"), step);
           }),
           "no device's"));
}

// A line of tasks of 64 values, of which the first is divided in two; recovery goes back over that.
struct line {
    evn::session session{evn::oversubscribe, "1:CPU:1,1:GPU:1", "emulated:1,fail=kernel@4"};
    evn::loop loop = session.open_loop(6, 0, "static:chunk=1");
    evn::place place = session.open_place();
    std::vector<std::vector<double>> block;
    std::vector<int> region;
    evn::exchange halo;
    bool divided = false;

    line() : block(8, std::vector<double>(64)) {
        for (std::size_t t = 0; t < 6; t++) region.push_back(place.add(block[t]));
        loop.use(place, region, {evn::access::both});
    }
    // Task t comes from origin[t], -1: from none; the first `born` ones are born.
    void change(const std::vector<int> &origin, std::size_t born) {
        std::vector<int> first{0}, from;
        std::vector<char> kept;
        for (std::size_t t = 0; t < origin.size(); t++) {
            kept.push_back(t >= born);
            if (origin[t] >= 0) from.push_back(origin[t]);
            first.push_back(int(from.size()));
        }
        evn_change other{};
        other.tasks = int(origin.size()), other.first = first.data(), other.from = from.data();
        other.kept = kept.data(), other.region = region.data(), other.links = -1;
        loop.change(other);
    }
    void divide() {
        const int whole = region[0];
        region.erase(region.begin());
        region.insert(region.begin(), {place.add(block[6]), place.add(block[7])});
        change({0, 0, 1, 2, 3, 4, 5}, 2);
        loop.bear([](const evn::batch &batch) {
            for (int t : batch) {
                IS(batch.origins(t) == 1 && batch.origin_at(t) == 0);
                std::copy_n(batch.origin<double>(t), 64, batch.host<double>(t));
            }
        });
        place.remove(whole);
        divided = true;
    }
    void unite(const std::vector<int> &now) {
        IS(now == std::vector<int>{-1, 2, 3, 4, 5, 6});
        const int halves[] = {region[0], region[1]};
        region.erase(region.begin(), region.begin() + 2);
        region.insert(region.begin(), place.add(block[0]));
        change(now, 1);
        for (const int half : halves) place.remove(half);
        divided = false;
    }
    void add(int step) {
        const step_kernel kernel(steps_kernels, "add");
        loop.run([&](const evn::batch &batch) {
            const double by = 1 + step;
            if (batch.on_device())
                return batch.launch(kernel, batch.size(), batch.buffer(), batch.table(), by);
            for (int t : batch)
                for (int i = 0; i < 64; i++) batch.host<double>(t)[i] += by;
        });
    }
};

static void test_rebuild() {
    line whole;
    std::string told;
    int lost = 0, generation = -1, runs = 0;
    evn::recovery recovery;
    evn::recovery_calls calls;
    calls.lost = [&](evn::unit unit) { lost += unit.is_gpu() && unit.number() == 1; };
    calls.told = [&](const char *text) { told += text; };
    calls.rebuild = [&](int of) {
        generation = of;
        whole.unite(recovery.tasks());
    };
    recovery = whole.loop.open_recovery(5, calls);
    for (int step = 0; step < 12; runs++) try {
            recovery.keep(step);
            if (step == 2 && !whole.divided) whole.divide();
            whole.add(step);
            step++;
        } catch (const evn::error &e) {
            recovery.go_on(e, step);
            IS(step == 0 && !whole.divided);
        }
    IS(runs == 4 + 12 && lost == 1 && generation == 0 && whole.loop.generation() == 3);
    IS(has(told, "goes on from step 0"));
    whole.loop.collect();
    for (std::size_t t = 1; t < 8; t++) IS(whole.block[t] == std::vector<double>(64, 78.0));
    // each callback's exception reaches the caller of go_on(), as it is
    for (int which = 0; which < 3; which++) {
        line other;
        evn::recovery its;
        evn::recovery_calls throwing;
        throwing.rebuild = [&](int) { other.unite(its.tasks()); };
        if (which == 0) throwing.lost = [](evn::unit) { throw own(0, 1); };
        if (which == 1) throwing.told = [](const char *) { throw own(1, 1); };
        if (which == 2) throwing.rebuild = [](int) { throw own(2, 1); };
        its = other.loop.open_recovery(5, throwing);
        int step = 0, thrown = -1;
        try {
            for (; step < 12; step++) {
                its.keep(step);
                if (step == 2) other.divide();
                other.add(step);
            }
        } catch (const evn::error &e) {
            try {
                its.go_on(e, step);
            } catch (const own &o) {
                thrown = o.task;
            }
        }
        IS(thrown == which);
        if (which < 2) other.add(step); // which goes on all the same
        if (which < 2) IS(step == 0);
    }
}

// Tasks that come and go, with faces to them, and a value of each on all ranks.
static void test_changes() {
    evn::session session(evn::oversubscribe, "2:CPU:1");
    evn::loop loop = session.open_loop(3, 0, "static");
    evn::place place = session.open_place();
    std::vector<double> one(8, 1), two(8, 2), three(8, 3);
    const std::vector<int> region{place.add(one), place.add(two), place.add(three)};
    loop.use(place, region, {evn::access::both});
    const std::vector<evn_face> faces{value(0, 1, 1, 0), value(1, 2, 1, 0)};
    evn::exchange exchange = loop.open_exchange<double>(faces);
    // 0 and 2 kept, between them one of 1 and 2, in an order of its own
    const std::vector<int> first{0, 1, 3, 4}, from{0, 0, 1, 2}, born{-1, place.make(64), -1};
    const std::vector<char> kept{1, 0, 1};
    evn_change other{};
    other.tasks = 3, other.first = first.data(), other.from = from.data();
    other.kept = kept.data(), other.region = born.data(), other.links = -1;
    loop.change(other);
    IS(loop.generation() == 1);
    const std::vector<evn_face> more{value(0, 1, 2, 0), value(2, 1, 2, 1)};
    exchange.add(more);
    IS(has(failure<own>([&] {
               loop.bear([](const evn::batch &batch) {
                   for (int t : batch) throw own(t, 0);
               });
           }),
           "task 1"));
    for (int question = 0; question < 2; question++)
        IS(has(failure([&] {
                   loop.bear([&](const evn::batch &batch) {
                       question ? batch.origins(2) : *batch.origin<double>(1, 2);
                   });
               }),
               question ? "task 2" : "origin 2"));
    loop.bear([&](const evn::batch &batch) {
        for (int t : batch) {
            IS(t == 1 && batch.origins(t) == 2);
            for (int i = 0; i < 8; i++)
                batch.host<double>(t)[i] =
                    batch.origin<double>(t, 0)[i] + batch.origin<double>(t, 1)[i];
        }
    });
    IS(has(failure([&] { // the region of a born task has elements of a size that is not known
               loop.open_exchange<short>(std::vector<evn_face>{value(0, 9, 0, 0)});
           }),
           "task 9"));
    exchange.run();
    std::vector<double> sum(3);
    loop.visit_host(
        [&](const evn::batch &batch) {
            for (int t : batch)
                sum[std::size_t(t)] =
                    std::accumulate(batch.host<double>(t), batch.host<double>(t) + 8, 0.0);
        },
        evn::access::read);
    loop.allgather(sum);
    IS(sum == std::vector<double>{8, 6 * 3 + 1 + 3, 24});
    IS(has(failure([&] {
               std::vector<double> few(2);
               loop.allgather(few);
           }),
           "2 values for 3 tasks"));
    exchange.drop(std::vector<int>{2});
    IS(has(failure([&] { exchange.drop(std::vector<int>{2}); }), "2"));
    other.tasks = 0;
    IS(failure([&] { loop.change(other); }) != "" && loop.generation() == 1);
}

// Units that come later and change, schedules of the program's, machine and ranks of its own.
static void test_front_door() {
    const auto nothing = [](const evn::batch &) {};
    std::vector<double> data(8);
    setenv("EVENER_UNITS", "no list", 1);
    IS(has(failure([] { evn::session wrong; }), "EVENER_UNITS"));
    evn::session session(evn::units_later | evn::no_environment | evn::oversubscribe, "1:CPU:1");
    IS(!session.units() && has(failure([&] { session.open_loop(3); }), "units"));
    session.open_units("2:CPU:1", nullptr, evn::oversubscribe);
    IS(std::string(session.text()) == "2:CPU:1");
    evn::loop loop = session.open_loop(3);
    evn::place place = session.open_place();
    IS(has(failure([&] { session.open_units("1:CPU:1"); }), "loop"));
    IS(has(failure([&] { session.close_units(); }), "loop"));
    IS(place && loop && place.add(data) == 0);
    loop.run(nothing);
    loop.close();
    session.close_units();
    IS(!session.units() && !place.get());
    session.open_units("3:CPU:1", nullptr, evn::oversubscribe);

    const std::vector<double> weight{5, 1, 1, 1, 1, 1};
    evn_problem problem{};
    problem.tasks = 6, problem.weight = weight.data();
    evn::schedule schedule = session.open_schedule(problem, "binpack");
    const std::string plan = schedule.text();
    IS(has(plan, "binpack 6 tasks 3 units"));
    evn::loop planned = session.open_loop(schedule);
    planned.run(nothing);
    schedule.close(); // and its loop before
    IS(!schedule && !planned);
    evn::schedule again = session.open_schedule(problem, "binpack");
    again.restore(plan);
    IS(again.text() == plan);
    IS(failure([&] { again.restore("nonsense"); }) != "");
    evn::loop last = session.open_loop(again);
    session.close(); // in whatever order
    IS(!again && !last && !session.get());

    evn_cluster *cluster = nullptr;
    evn_machine *machine = nullptr;
    evn::check(evn_cluster_open(&cluster, "alone"));
    evn::check(evn_cluster_machine(cluster, &machine, 1, 1));
    evn_open_options options{};
    options.units = "2:CPU:1", options.cluster = cluster, options.machine = machine;
    options.flags = evn::no_environment | evn::oversubscribe;
    {
        evn::session own_machine(options);
        IS(evn_units_about(evn_session_units(own_machine.get())).machine == machine);
        own_machine.open_loop(4).run(nothing);
    }
    options.units = "x";
    IS(failure([&] { evn::session wrong(options); }) != "");
    evn_machine_close(machine);
    evn_cluster_close(cluster, EVN_OK);
    unsetenv("EVENER_UNITS");
}

// Over two processes the last rank throws: in a body, or alone between loops. Rank 0 says it once,
// and all end.
static int fail_on_rank(const std::string &where) try {
    evn::session session(evn::over_ranks | evn::oversubscribe, "1:CPU:1");
    evn::loop loop = session.open_loop(8, 0, "static");
    const int rank = session.rank();
    if (where == "alone" && rank) throw std::runtime_error("rank 1 has no input");
    loop.run([&](const evn::batch &batch) {
        for (int t : batch)
            if (where == "body" && t == 7) throw own(t, rank);
    });
    loop.run([](const evn::batch &) {});
    session.close();
    return 3;
} catch (const std::exception &failure) {
    return evn::complain("ranks", failure);
}

int main(int count, char **words) {
    if (count == 3) return fail_on_rank(words[2]);
    if (count != 2) return 2;
    folder = words[1];
    for (auto test : {test_thrown, test_subteams, test_data, test_owners, test_records,
                      test_recovery, test_rebuild, test_changes, test_front_door})
        test();
    std::cout << checks << " checks, " << failures << " failed\n";
    return failures > 0;
}
