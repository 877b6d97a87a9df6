import { describe } from "@effect/vitest"
import { unitMistakes } from "./mistakes.ts"
import { areNamed } from "./named.ts"

describe("the check of units, stock and products", () => {
  areNamed(unitMistakes)
})
