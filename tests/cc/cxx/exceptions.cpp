// An exception that leaves a body ends the loop and is caught around the directive, whichever unit
// has thrown it.
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

struct wrong : std::runtime_error {
    wrong(int iteration)
        : std::runtime_error("iteration " + std::to_string(iteration)), iteration(iteration) {}
    int iteration;
};

static int counts = 0, destroyed = 0;
struct guard {
    ~guard() {
#pragma omp atomic
        destroyed++;
    }
};

template <class F> static std::string caught(F &&call) {
    try {
        call();
    } catch (const wrong &e) {
        return "wrong " + std::to_string(e.iteration) + " " + e.what();
    } catch (const std::exception &e) {
        return e.what();
    } catch (int n) {
        return "int " + std::to_string(n);
    }
    return "nothing";
}

static void loop(int n, int bad) {
#pragma omp teams distribute num_teams(3 : CPU : 1) dist_schedule(static)
    for (int i = 0; i < n; i++) {
        guard g;
        if (i == bad) throw wrong(i);
    }
}

static void orphan(int n, int bad) {
#pragma omp distribute
    for (int i = 0; i < n; i++)
        if (i == bad) throw i;
}

int main() {
    for (int bad = 0; bad < 13; bad += 4)
        std::printf("%s\n", caught([&] { loop(12, bad); }).c_str());
    std::printf("%s\n", caught([] { loop(12, -1); }).c_str());
    std::printf("%d\n", destroyed >= 12);
    int sum = 5;
    const std::string said = caught([&] {
        std::vector<int> own(4);
#pragma omp teams distribute num_teams(2 : CPU : 1) reduction(+ : sum)
        for (int i = 0; i < 9; i++) {
            sum += i;
            if (i == 8) own.at(static_cast<std::size_t>(i)) = 1;
        }
    });
#ifdef __EVENER_CC__ // copies of a reduction are dropped
    if (sum != 5) std::printf("%d\n", sum);
#endif
    std::printf("%s\n", said == "nothing" ? "nothing" : "thrown");
    // an orphan outside of teams, and in a teams block, in which it is caught on each unit or
    // leaves all of it
    std::printf("%s\n", caught([] { orphan(6, 3); }).c_str());
#pragma omp teams num_teams(3 : CPU : 1)
    {
        for (int round = 0; round < 3; round++) {
            const std::string said = caught([&] { orphan(9, round == 1 ? 20 : 4 * round); });
            if (said != (round == 1 ? "nothing" : "int " + std::to_string(4 * round))) {
#pragma omp atomic
                counts += 100;
            }
        }
#pragma omp atomic
        counts++;
    }
    std::printf("%s\n", counts > 100 ? "not on each" : "on each");
    std::printf("%s\n", caught([] {
                            int own = 0;
#pragma omp teams num_teams(3 : CPU : 1) firstprivate(own)
                            {
                                own++;
#pragma omp distribute
                                for (int i = 0; i < 12; i++)
                                    if (i == 7) throw wrong(i);
                                std::printf("never\n");
                            }
                        }).c_str());
    std::printf("%s\n", caught([] { loop(12, 11); }).c_str());
}
