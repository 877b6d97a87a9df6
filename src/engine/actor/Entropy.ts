/**
 * The source of randomness for mechanisms: seeds, salts, the names of bookings. A simulation provides a seeded source;
 * the default is Node's generator.
 */
import { randomBytes } from "node:crypto"
import { Context } from "effect"
import type { Moment } from "../../domain/mechanism/Decider.ts"

/** Returns 16 fresh random bytes as hex. */
export const systemEntropy: Moment["entropy"] = () => randomBytes(16).toString("hex")

export const Entropy = Context.Reference<Moment["entropy"]>("usher/engine/actor/Entropy", {
  defaultValue: () => systemEntropy
})
