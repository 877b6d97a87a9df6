import { describe } from "@effect/vitest"
import { surroundingMistakes } from "./mistakes.ts"
import { areNamed } from "./named.ts"

describe("the check of texts, pages, webhooks and messages", () => {
  areNamed(surroundingMistakes)
})
