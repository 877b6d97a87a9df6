import { assert, describe, it } from "@effect/vitest"
import { configured, setWindow } from "../../../src/domain/mechanism/Configuring.ts"
import type { Windowed } from "../../../src/domain/experience/ExperienceWindow.ts"

const state: { readonly configured: Windowed } = { configured: { openAt: 1 } }

describe("a change of the configuration", () => {
  it("is recorded with its author and reason, unless the configuration stays the same", () => {
    const by = "admin"
    const changed = { _tag: "Configured", at: 5, configuration: { openAt: 2 }, by }
    assert.deepStrictEqual<unknown>(configured(state, { openAt: 2 }, { by }, 5), [changed])
    assert.deepStrictEqual<unknown>(configured(state, { openAt: 2 }, { by, reason: "OTHER" }, 5), [
      { ...changed, reason: "OTHER" }
    ])
    assert.deepStrictEqual(configured(state, { openAt: 1 }, { by, reason: "OTHER" }, 5), [])
  })
})

describe("a change of the experience's window", () => {
  const command = { window: { revision: 1, openAt: 3, closeAt: 9 }, by: "admin" }
  const windowOf = (isClosed: boolean, hasOpened: boolean) =>
    setWindow(state, command, { isClosed, hasOpened }, 5).map(({ configuration }) => configuration.experienceWindow)

  it("is recorded with the configuration", () => {
    assert.deepStrictEqual(windowOf(false, false), [command.window])
  })

  it("keeps an opening that has passed", () => {
    assert.deepStrictEqual(windowOf(false, true), [{ revision: 1, closeAt: 9 }])
  })

  it("changes nothing once the mechanism has closed, or if its revision is not new", () => {
    assert.deepStrictEqual(windowOf(true, true), [])
    const known = { ...command, window: { revision: 0 } }
    assert.deepStrictEqual(setWindow(state, known, { isClosed: false, hasOpened: false }, 5), [])
  })
})
