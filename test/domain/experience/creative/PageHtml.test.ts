import { assert, describe, it } from "@effect/vitest"
import { nodeLevelsMax, nodesMax } from "../../../../src/domain/experience/creative/EmailNode.ts"
import {
  type PageContext,
  pageHtml,
  skippedMax
} from "../../../../src/domain/experience/creative/rendering/PageHtml.ts"
import { pageText } from "../../../../src/domain/experience/creative/rendering/PageText.ts"

const context: PageContext = {
  slot: (slot) => `<b id="${slot}"></b>`,
  instant: (at, timeZone, format) => `${at} ${timeZone} ${format}`,
  label: (_, kind) => (kind === "queue" ? "Line" : undefined),
  open: "Open"
}

const render = (...blocks: ReadonlyArray<unknown>) => pageHtml({ blocks }, context)
const html = (...blocks: ReadonlyArray<unknown>) => render(...blocks).html

describe("The body of a page as HTML", () => {
  it("shows every node of the vocabulary", () => {
    const shown = html(
      { type: "section", className: "hero", children: [{ type: "row", children: [{ type: "column", children: [] }] }] },
      { type: "heading", level: 1, content: "Spring drop" },
      { type: "p", content: "One pair\nfor each" },
      { type: "p", content: "now", tag: "strong" },
      { type: "link", href: "https://shop.example/a?b=1&c=2", content: "Shop" },
      { type: "button", href: "mailto:help@shop.example" },
      { type: "image", src: "https://shop.example/a.png", alt: "A shoe", width: 10 },
      { type: "date-time", iso: "2026-11-21T18:00:00Z", timeZone: "Europe/Berlin", format: "locale" },
      { type: "icon", name: "map" },
      { type: "dynamic-text", transform: "distribution-type-label", input: "queue" },
      { type: "footer", supportEmail: "help@shop.example", physicalAddress: "1 Street" },
      { type: "hr" }
    )
    assert.strictEqual(
      shown,
      '<div class="doc-section doc-hero"><div class="doc-row"><div class="doc-column"></div></div></div>' +
        "<h2>Spring drop</h2><p>One pair<br>for each</p><strong>now</strong>" +
        '<a href="https://shop.example/a?b=1&amp;c=2" rel="noopener">Shop</a>' +
        '<p><a class="button" href="mailto:help@shop.example" rel="noopener">Open</a></p>' +
        '<img src="https://shop.example/a.png" alt="A shoe" width="10" loading="lazy">' +
        '<time datetime="2026-11-21T18:00:00.000Z">1795284000000 Europe/Berlin locale</time>' +
        '<span aria-hidden="true">&#128506;</span><span>Line</span>' +
        '<div class="doc-footer"><p>1 Street</p><p><a href="mailto:help@shop.example">help@shop.example</a></p></div><hr>'
    )
  })

  it("shows an uploaded picture, which is on the page's own origin, and nothing else there", () => {
    const src = "/pictures/0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e"
    assert.strictEqual(html({ type: "image", src, alt: "A shoe" }), `<img src="${src}" alt="A shoe" loading="lazy">`)
    for (const other of ["/a.png", `${src}/x`, `/${src}`, "/dashboard"])
      assert.strictEqual(html({ type: "image", src: other, alt: "A shoe" }), "A shoe", other)
  })

  it("has the parts that the page fills, each once", () => {
    const { html, slots } = render(
      { type: "place" },
      { type: "section", children: [{ type: "rules" }] },
      { type: "place" }
    )
    assert.strictEqual(html, '<b id="place"></b><div class="doc-section"><b id="rules"></b></div>')
    assert.deepStrictEqual([...slots], ["place", "rules"])
  })

  it("skips unknown and malformed nodes, and names each once", () => {
    const { html, skipped } = render(
      { type: "script", content: "alert(1)" },
      { type: "script" },
      { type: "heading", level: 9, content: "a" },
      { type: "row" },
      { level: 1 },
      null,
      "text",
      { type: "p", content: "stays" }
    )
    assert.strictEqual(html, "<p>stays</p>")
    assert.deepStrictEqual(skipped, ["script", "heading", "row", "?"])
    const many = Array.from({ length: 50 }, (_, index) => ({ type: `t${index}` }))
    assert.lengthOf(render(...many).skipped, skippedMax)
  })

  it("escapes text, attributes and class names, and has no style", () => {
    const attack = `"><script>alert('1')</script><p style="x" onload=a {{consumerName}}`
    const shown = html(
      { type: "p", content: attack, className: `a" onclick="b c` },
      { type: "heading", level: 2, content: attack },
      { type: "image", src: 'https://shop.example/"onerror=alert(1)', alt: attack, className: "good <bad>" },
      { type: "link", href: `https://shop.example/"onclick="a`, content: attack },
      { type: "dynamic-text", transform: "waitlist-action-text", input: attack },
      { type: "date-time", iso: attack, timeZone: attack },
      { type: "footer", supportEmail: attack, footerMessage: attack }
    )
    // Text between quotes is a value: it ends at the next quote.
    const withoutValues = shown.replaceAll(/="[^"]*"/g, "")
    assert.notMatch(withoutValues, /<script|<[^>]* style|<[^>]* on\w+/)
    assert.include(shown, 'class="doc-c"')
    assert.include(shown, 'class="doc-good"')
  })

  it("links only to https, http, mailto and tel, however the scheme is written", () => {
    const hostile = [
      "javascript:alert(1)",
      " JaVaScRiPt:alert(1)",
      "java\nscript:alert(1)",
      "\u0001javascript:alert(1)",
      "data:text/html,<script>alert(1)</script>",
      "vbscript:a",
      "blob:https://shop.example/1",
      "file:///etc/passwd",
      "/relative",
      "//shop.example"
    ]
    for (const href of hostile) {
      assert.strictEqual(html({ type: "link", href, content: "a" }), "<span>a</span>", href)
      assert.strictEqual(html({ type: "button", href, content: "a" }), "<p><span>a</span></p>", href)
      assert.strictEqual(html({ type: "image", src: href, alt: "a", href }), "<span>a</span>", href)
    }
    for (const src of ["mailto:a@b.example", "tel:+49301234567"]) {
      assert.strictEqual(html({ type: "image", src, alt: "a" }), "a")
      assert.include(html({ type: "link", href: src, content: "a" }), `href="${src}"`)
    }
  })

  it("is cut where it is too deep or too long, and empty without blocks", () => {
    let deep: unknown = { type: "p", content: "deep" }
    for (let level = 0; level < 20_000; level++) deep = { type: "section", children: [deep] }
    assert.strictEqual(html(deep).match(/<div/g)?.length, nodeLevelsMax)
    const many = Array.from({ length: nodesMax + 10 }, () => ({ type: "hr" }))
    assert.strictEqual(html(...many).length, nodesMax * "<hr>".length)
    for (const body of [{}, { blocks: "text" }, { blocks: { type: "p" } }]) {
      assert.deepStrictEqual(pageHtml(body, context), { html: "", slots: new Set<never>(), skipped: [] })
    }
  })
})

describe("The body of a page as text", () => {
  it("is its paragraphs and headings on one line, cut to the length", () => {
    const blocks = [
      { type: "heading", level: 1, content: "Spring\ndrop" },
      { type: "section", children: [{ type: "p", content: "  One pair for each. " }] },
      { type: "image", alt: "no text" }
    ]
    assert.strictEqual(pageText({ blocks }, 100), "Spring drop One pair for each.")
    assert.strictEqual(pageText({ blocks }, 6), "Spring")
    assert.strictEqual(pageText({ blocks: 1 }, 6), "")
  })
})
