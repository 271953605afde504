namespace outer { namespace inner {
template <typename T, int N = 3>
class Box : public Base<T> {
 public:
  Box() : n_(0), v_{1} {}
  ~Box();
  int size() const { return n_; }
  bool operator==(const Box& o) const { return true; }
 private:
  int n_;
};
template <typename T, int N>
Box<T, N>::~Box() {}
enum class Mode : int { kA, kB };
using Alias = Box<int>;
auto text = R"x(class NotHere {})x";
}}  // namespace
int outer::inner::run(int argc) noexcept { return 0; }
MACRO_BEGIN
namespace after_macro {
void visible() {}
}

SUITE_BEGIN(store_tests, Fixture)

struct Noop final : public Base {
  void Checked(const int&) override {}
};

SUITE_BEGIN(more_tests, Fixture)

template <typename T>
class Tester {
  int x() { return 1; }
};

int Wrap() {
  struct Wrapper : public Base {
    static void Nothing(void*) {}
  };
  struct Wrapper w = {1};
  return 0;
}

class IO {
  IO(int n) : n_(n) {}
};
IO::IO() : n_(1) {}
