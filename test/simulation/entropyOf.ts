import { Dice } from "../e2e/support/Dice.ts"

/** Returns a source of randomness for the engine: 16 bytes as hex a call, in the same sequence for the same seed. */
export const entropyOf = (seed: number): (() => string) => {
  const dice = new Dice(seed ^ 0x5eed)
  return () => Buffer.from(Array.from({ length: 16 }, () => dice.between(0, 255))).toString("hex")
}
