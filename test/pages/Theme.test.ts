import { assert, describe, it } from "@effect/vitest"
import { colourOf, contrast, lookOf } from "../../src/pages/Theme.ts"

/** The variables of a look. */
const variables = (css: string): { readonly [name: string]: string } =>
  Object.fromEntries([...css.matchAll(/--([\w-]+):([^;}]*)/g)].map(([, name, value]) => [name, value]))

const contrastOf = (css: string, one: string, other: string): number => {
  const all = variables(css)
  return contrast(colourOf(all[one]!)!, colourOf(all[other]!)!)
}

describe("A theme", () => {
  it("without colours changes nothing", () => {
    for (const theme of [undefined, null, {}]) assert.strictEqual(lookOf(theme).css, "")
    assert.strictEqual(lookOf({ variant: "rounded" }).css, ":root{--radius:1.25rem}")
  })

  it("keeps colours that can be read", () => {
    const look = lookOf({ primary: "#B4002D", background: "rgb(255, 247, 240)", text: "hsl(20, 100%, 10%)" })
    assert.deepInclude(variables(look.css), {
      bg: "#fff7f0",
      fg: "#331100",
      primary: "#b4002d",
      "on-primary": "#ffffff"
    })
    assert.include(look.css, "color-scheme:light")
    assert.deepStrictEqual(look.replaced, [])
  })

  it("gets contrast with any colours", () => {
    const shades = ["#000", "#333", "#777", "#949494", "#bbb", "#fff", "#f00", "#0f0", "#00f", "#ff0"]
    for (const background of shades) {
      for (const text of shades) {
        for (const primary of shades) {
          const { css } = lookOf({
            background,
            surface: primary,
            text,
            primary,
            muted: primary,
            danger: text,
            success: primary
          })
          for (const ink of ["fg", "muted", "danger", "ok"]) {
            for (const ground of ["bg", "surface"]) {
              assert.isAtLeast(contrastOf(css, ink, ground), 4.5, `${ink} of ${text} on ${ground} of ${background}`)
            }
          }
          assert.isAtLeast(contrastOf(css, "on-primary", "primary"), 4.5)
        }
      }
    }
  })

  it("names the replaced and dropped values", () => {
    const look = lookOf({
      background: "#fff",
      text: "#eee",
      primary: "tomato",
      fontFamily: "a{",
      logoUrl: "http://a.example"
    })
    assert.sameMembers([...look.replaced], ["text", "primary", "fontFamily"])
    assert.isUndefined(look.logoUrl)
  })

  it("shows a picture only from a safe https address, and names the others", () => {
    const shown = "https://cdn.example/a.png"
    const hidden = [
      "http://a.example/a.png",
      "javascript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "data:image/png;base64,AAAA",
      "ftp://a.example/a.png",
      "https://user:password@a.example/a.png",
      "https:"
    ]
    for (const address of hidden) {
      const look = lookOf({ logoUrl: address, headerImageUrl: shown })
      assert.deepStrictEqual([look.logoUrl, look.headerImageUrl, look.hidden], [undefined, shown, ["logoUrl"]], address)
    }
    const uploaded = "/pictures/0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e"
    assert.strictEqual(lookOf({ logoUrl: uploaded }).logoUrl, uploaded)
    assert.deepStrictEqual(lookOf({ logoUrl: shown }).hidden, [])
    assert.deepStrictEqual(lookOf(undefined).hidden, [])
  })

  it("is never more than values of variables", () => {
    const hostile = [
      "red;}</style><script>",
      "url(https://evil.example)",
      "var(--x)",
      "expression(alert(1))",
      "#fff;background:url(x)",
      "rgb(1,2,3);",
      "\\66 oo",
      "'a', \"b;}\""
    ]
    for (const value of hostile) {
      const { css } = lookOf({ background: value, text: value, primary: value, fontFamily: value, fontHeading: value })
      assert.strictEqual(css, "", value)
    }
    assert.strictEqual(
      lookOf({ fontFamily: `"My Font", 'Other', serif` }).css,
      `:root{--font:"My Font", 'Other', serif}`
    )
  })

  it("reads a list of fonts in a time that does not explode with its length", () => {
    const [names, blanks] = ["a ".repeat(50_000), " ".repeat(100_000)]
    const unfinished = ["{", '"', "'", ",", ", '"].flatMap((end) => [
      `${"a".repeat(164)}${end}`,
      `${names}${end}`,
      `a,${blanks}${end}`,
      `${"a,".repeat(50_000)}${end}`,
      `${"'a b', ".repeat(20_000)}${end}`
    ])
    for (const fontFamily of unfinished) assert.deepStrictEqual([...lookOf({ fontFamily }).replaced], ["fontFamily"])
    for (const fonts of [names, `a,${blanks}b`, "a,".repeat(50_000).slice(0, -1)])
      assert.strictEqual(lookOf({ fontHeading: fonts }).css, `:root{--heading:${fonts}}`)
  })
})
