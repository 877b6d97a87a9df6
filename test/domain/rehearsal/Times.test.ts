import { describe } from "@effect/vitest"
import { timeMistakes } from "./mistakes.ts"
import { areNamed } from "./named.ts"

describe("the check of openings, closings and zones", () => {
  areNamed(timeMistakes)
})
