// exp (Highway's) and GELU in its tanh form, for the SIMD target that includes this. Included once per target.
#if defined(TINY_LLAMA_KERNELS_MATH_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef TINY_LLAMA_KERNELS_MATH_HPP
#undef TINY_LLAMA_KERNELS_MATH_HPP
#else
#define TINY_LLAMA_KERNELS_MATH_HPP
#endif

#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace tiny_llama::HWY_NAMESPACE {
namespace {

// x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), as x / (1 + exp(-2u)).
template <class D, class V = hwy::HWY_NAMESPACE::Vec<D>>
HWY_INLINE V gelu(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V cubic = hn::MulAdd(hn::Mul(hn::Mul(x, x), hn::Set(d, 0.044715f)), x, x);
  // Beyond 80 the quotient is 0 in float precision, and exp stays finite.
  const V exponent = hn::Min(hn::Mul(cubic, hn::Set(d, -1.5957691216057308f)), hn::Set(d, 80.0f));
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), hn::Exp(d, exponent)));
}

}  // namespace
}  // namespace tiny_llama::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
