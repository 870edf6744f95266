// Uses that the compiler refuses, with a sentence: CASE says which. Without CASE all is well.
#include <evener.hpp>
#include <string>

struct loud {
    loud(const loud &) {}
    double value = 0;
};

void use(evn::session &session, evn::place &place, const evn::batch &batch,
         const evn_kernel_source &source);
void use(evn::session &session, evn::place &place, const evn::batch &batch,
         const evn_kernel_source &source) {
    const evn::kernel<evn_buffer *, int> add(source, "add");
    std::vector<double> data(8);
    int by = 1;
    place.add(data);
    batch.launch(add, 1, batch.buffer(), by);
#if CASE == 1 // trivially copyable
    std::vector<std::string> texts(3);
    place.add(texts);
#elif CASE == 2  // must not be const
    const std::vector<double> fixed(3);
    place.add(fixed);
#elif CASE == 3  // a temporary container
    place.add(std::vector<double>(3));
#elif CASE == 4  // has the type of the kernel's parameter
    batch.launch(add, 1, batch.buffer(), 1L);
#elif CASE == 5  // as many arguments
    batch.launch(add, 1, batch.buffer());
#elif CASE == 6  // pointers to host memory
    const evn::kernel<double *> wrong(source, "add");
#elif CASE == 7  // has the type of the kernel's parameter
    batch.launch(add, 1, by, by);
#elif CASE == 8  // weights are double
    session.open_loop(3).weights(std::vector<int>(3));
#elif CASE == 9  // a temporary container
    place.add(std::array<double, 3>{});
#elif CASE == 10 // copied byte by byte
    session.open_loop(3).open_exchange<loud>(std::vector<evn_face>());
#elif CASE == 11 // deleted
    evn::session copy = session;
#elif CASE == 12 // values of tasks are copied byte by byte
    const std::vector<double> fixed(3);
    session.open_loop(3).allgather(fixed);
#endif
    session.close();
}
