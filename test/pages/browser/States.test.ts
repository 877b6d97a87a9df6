/** Every state of a room, for people who see little, choose their colors, or bear no motion. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { lookOf } from "../../../src/pages/Theme.ts"
import { findings, findingsNow } from "../support/axe.ts"
import { inBrowser, opened } from "../support/browserFixture.ts"
import { type Find, moving, narrow, small, tooWide, unseen } from "../support/seeing.ts"
import { ShownStates } from "../support/shownStates.ts"

/** Themes of brands: light, dark, hard to read, and in one color. */
const themes = [
  { primary: "#b4002d", background: "#fff7f0", variant: "clean" },
  { primary: "#ffcc00", background: "#101418", surface: "#1d242c", text: "#f5f5f5", fontFamily: "Georgia, serif" },
  { primary: "#9a9a9a", background: "#eeeeee", surface: "#d8d8d8", text: "#808080", muted: "#858585", danger: "#e66" },
  { primary: "#0a7" }
] as const

/** Puts these states into one page, and gathers what is found. */
const inEach = Effect.fnUntraced(function* (
  find: Find,
  options: Parameters<typeof opened>[0] = {},
  some?: Effect.Success<typeof ShownStates>
) {
  const states = some ?? (yield* ShownStates)
  const { page } = yield* opened(options)
  return yield* Effect.promise(async () => {
    const found: Array<string> = []
    for (const { name, html } of states) {
      await page.setContent(html)
      found.push(...(await find(page, name)))
    }
    return found
  })
})

inBrowser("Every state of a room", ShownStates.layer, (it) => {
  it.effect("is there, in three languages", () =>
    Effect.gen(function* () {
      const states = yield* ShownStates
      assert.isAtLeast(states.length, 80)
      for (const { name, html } of states) assert.match(html, /<h[12]/, name)
    })
  )

  it.effect("has no finding of axe, in light and dark", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* inEach(findings), [])
    })
  )

  it.effect("has no finding of axe in the theme of a brand", () =>
    Effect.gen(function* () {
      const named = Map.groupBy(yield* ShownStates, ({ name }) => name.split(" in ")[0])
      // Each state once. Among twelve of them is each theme in each language.
      const themed = [...named.values()].map((shown, index) => {
        const { name, html } = shown[index % shown.length]!
        const theme = themes[index % themes.length]!
        const style = `<style>${lookOf(theme).css}</style></head>`
        return { name: `${name} on ${theme.primary}`, html: html.replace("</head>", style) }
      })
      const find: Find = (page, name) => findingsNow(page, name)
      assert.deepStrictEqual(yield* inEach(find, { reducedMotion: "reduce" }, themed), [])
    })
  )

  it.effect("needs no scrolling to the side at a zoom of 400 %", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* inEach(tooWide, { viewport: narrow }), [])
    })
  )

  it.effect("shows its controls in colors that the system forces", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* inEach(unseen, { forcedColors: "active" }), [])
    })
  )

  it.effect("has controls of 44 pixels at least", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* inEach(small, { viewport: narrow }), [])
    })
  )

  it.effect("moves nothing for those who bear no motion", () =>
    Effect.gen(function* () {
      const all = yield* inEach(moving, { reducedMotion: "no-preference" })
      assert.isAbove(all.length, 0)
      assert.deepStrictEqual(yield* inEach(moving, { reducedMotion: "reduce" }), [])
    })
  )
})
