/** The chi-square test, for the tests of fairness. */

/** Returns the probability of a chi-square at least as large by chance (Wilson and Hilferty's approximation). */
export const chiSquareTail = (chiSquare: number, freedom: number): number =>
  normalTail(((chiSquare / freedom) ** (1 / 3) - (1 - 2 / (9 * freedom))) / Math.sqrt(2 / (9 * freedom)))

/** Returns the area of the normal distribution beyond z (Abramowitz and Stegun 26.2.17). */
const normalTail = (z: number): number => {
  if (z < 0) return 1 - normalTail(-z)
  const t = 1 / (1 + 0.2316419 * z)
  const polynomial = t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
  return (Math.exp((-z * z) / 2) / Math.sqrt(2 * Math.PI)) * polynomial
}
