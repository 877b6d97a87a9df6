import { assert, describe, it } from "@effect/vitest"
import { fontBytesMax, fontProblem, isFontPath } from "../../../src/domain/catalogue/Font.ts"
import { woff2, woff2Of } from "../../support/font.ts"

describe("A file", () => {
  it("is a font if its header is that of one whole WOFF2 font", () => {
    assert.isUndefined(fontProblem(woff2))
    assert.isUndefined(fontProblem(woff2Of({ flavor: 0x4f54544f, size: fontBytesMax })))
    // A part of a larger memory, as bodies are.
    assert.isUndefined(fontProblem(Buffer.concat([Buffer.alloc(7), woff2]).subarray(7)))
  })

  it("is refused with what is wrong", () => {
    const cases: ReadonlyArray<readonly [Uint8Array, string]> = [
      [Buffer.alloc(0), "EMPTY"],
      [Buffer.from("wO"), "UNKNOWN_TYPE"],
      [Buffer.from("wOFF".padEnd(200)), "UNKNOWN_TYPE"],
      [Buffer.from("<svg xmlns='http://www.w3.org/2000/svg'><script>1</script></svg>".padEnd(200)), "UNKNOWN_TYPE"],
      [woff2Of({ flavor: 0x74746366 }), "UNKNOWN_TYPE"],
      [woff2Of({ size: fontBytesMax + 1 }), "TOO_LARGE"],
      [woff2Of({ unpacked: 4_000_000_000 }), "TOO_LARGE"],
      [woff2.subarray(0, 48), "DAMAGED"],
      [woff2.subarray(0, 199), "DAMAGED"],
      [Buffer.concat([woff2, Buffer.from("<script>")]), "DAMAGED"],
      [woff2Of({ tables: 0 }), "DAMAGED"],
      [woff2Of({ tables: 65 }), "DAMAGED"],
      [woff2Of({ reserved: 1 }), "DAMAGED"],
      [woff2Of({ packed: 0 }), "DAMAGED"],
      [woff2Of({ packed: 153 }), "DAMAGED"]
    ]
    for (const [file, problem] of cases) assert.strictEqual(fontProblem(file), problem, file.toString().slice(0, 20))
  })

  it("has an address of its own, and no other is one of a font", () => {
    assert.isTrue(isFontPath("/fonts/0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e"))
    for (const other of ["/fonts/", "/fonts/../pictures/1", "https://cdn.example/a.woff2", "//evil.example/fonts/1"]) {
      assert.isFalse(isFontPath(other), other)
    }
  })
})
