/** Creative documents as messages: each type of node as HTML and as plain text, and text that means harm. */
import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { createHash } from "node:crypto"
import { EmailDocument, SmsDocument } from "../../../../src/domain/experience/creative/Document.ts"
import { renderEmail, renderSms } from "../../../../src/domain/experience/creative/Rendering.ts"
import type { Values } from "../../../../src/domain/experience/creative/rendering/Placeholders.ts"
import { anyDocument, email, fullNodes, nested, sms } from "./documents.ts"

const decodeEmail = Schema.decodeUnknownSync(Schema.toCodecJson(EmailDocument))
const decodeSms = Schema.decodeUnknownSync(Schema.toCodecJson(SmsDocument))

const values: Values = {
  consumerName: "Ada",
  experienceName: "Sneaker drop",
  distributionType: "queue",
  distributionId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
  expiresAt: "2026-11-21T18:10:00.000Z",
  timeZone: "Europe/Berlin"
}

interface Options {
  readonly subject?: string
  readonly values?: Values
  readonly theme?: object
  readonly themeOverrides?: object
}

const rendered = (nodes: ReadonlyArray<unknown>, options: Options = {}) => {
  const { subject: subjectTemplate = "Hello", themeOverrides } = options
  const document = email(nodes, {
    kind: "transactional-email",
    body: { subjectTemplate, nodes },
    ...(themeOverrides !== undefined && { themeOverrides })
  })
  return renderEmail(decodeEmail(document), options.values ?? values, options.theme ?? {})
}

/** The output for these nodes in the page, and in the text. */
const shown = (nodes: ReadonlyArray<unknown>, options: Options = {}) => {
  const { html, text } = rendered(nodes, options)
  const [, inner] = /<body[^>]*><div[^>]*>(.*)<\/div><\/body>/s.exec(html)!
  return [inner!, text.replace(/\n$/, "")]
}

const p = (content: string, more: object = {}) => ({ type: "p", content, ...more })
const table = (cells: string, className = "") =>
  `<table role="presentation"${className} width="100%" cellpadding="0" cellspacing="0" border="0"><tr>${cells}</tr></table>`

describe("A name in a message", () => {
  it("of the other direction of writing is isolated in subject, HTML, plain text and SMS, and not in an address", () => {
    for (const [template, experienceName] of [
      ["It is your turn: {{experienceName}}!", "מכירה 2026!"],
      ["Your drop {{ experienceName }}.", "عرض (Drop)"],
      ["حان دورك في {{experienceName}}!", "Spring Drop (2026)"],
      ["תורך: {{experienceName}}", "Ünïcödé!"]
    ] as const) {
      const named = { ...values, experienceName }
      const expected = template.replace(/\{\{.*\}\}/, `\u2068${experienceName}\u2069`)
      const link = { type: "link", href: "https://shop.example/{{experienceName}}", content: template }
      const { subject, html, text } = rendered([{ type: "p", content: template }, link], {
        subject: template,
        values: named
      })
      assert.strictEqual(subject, expected)
      assert.include(html, expected)
      assert.include(text, expected)
      assert.include(html, `https://shop.example/${encodeURIComponent(experienceName)}`)
      assert.strictEqual(renderSms(decodeSms(sms({ body: { textTemplate: template } })), named), expected)
    }
  })
})

describe("An email", () => {
  for (const [what, nodes, html, text] of [
    [
      "a section, with what stands in it",
      [{ type: "section", className: "a", children: [p("One"), p("Two")] }],
      table("<td><p>One</p><p>Two</p></td>", ' class="a"'),
      "One\n\nTwo"
    ],
    [
      "a row, its columns side by side, and others in cells of their own",
      [{ type: "row", children: [{ type: "column", className: "b", children: [p("One")] }, p("Two")] }],
      table('<td class="b" valign="top"><p>One</p></td><td valign="top"><p>Two</p></td>'),
      "One\n\nTwo"
    ],
    ["a column that stands alone", [{ type: "column", children: [p("One")] }], "<div><p>One</p></div>", "One"],
    ["a rule", [{ type: "hr" }], '<hr style="border:0;border-top:1px solid #767676">', "---"],
    [
      "a heading of its level",
      [{ type: "heading", level: 2, content: "You are in" }],
      "<h2>You are in</h2>",
      "You are in"
    ],
    ["a paragraph, with its lines", [p("One\nTwo", { className: "c" })], '<p class="c">One<br>Two</p>', "One\nTwo"],
    [
      "paragraphs that are inline, in one line",
      [p("Use it", { variant: "inline" }), p("soon", { tag: "strong" }), p("Bye", { tag: "span", variant: "block" })],
      '<p style="display:inline">Use it</p><strong>soon</strong><span style="display:block">Bye</span>',
      "Use it soon\n\nBye"
    ],
    [
      "a link",
      [{ type: "link", href: "https://shop.example/a?b=1&c=2", content: "The shop" }],
      '<a style="color:#222222" href="https://shop.example/a?b=1&amp;c=2">The shop</a>',
      "The shop: https://shop.example/a?b=1&c=2"
    ],
    [
      "an image, with its size and link",
      [
        {
          type: "image",
          src: "https://cdn.example/a.png",
          alt: "A shoe",
          width: 200,
          height: 100,
          href: "https://shop.example/"
        }
      ],
      '<a href="https://shop.example/"><img src="https://cdn.example/a.png" alt="A shoe" width="200" height="100" ' +
        'style="max-width:100%;border:0"></a>',
      "A shoe: https://shop.example/"
    ],
    [
      "an image from where it can be loaded, or what it shows in words",
      [
        { type: "image", src: "/a.png", alt: "A shoe", fallbackSrc: "https://cdn.example/b.png" },
        { type: "image", src: "data:image/png;base64,AA==", alt: "A sock" }
      ],
      '<img src="https://cdn.example/b.png" alt="A shoe" style="max-width:100%;border:0">A sock',
      "A shoe\n\nA sock"
    ],
    [
      "an instant in words of its zone, and in figures",
      [
        { type: "date-time", iso: "{{expiresAt}}", timeZone: "{{timeZone}}", tag: "strong" },
        { type: "date-time", iso: "2026-11-21T18:10:00Z", timeZone: "America/New_York", format: "locale" }
      ],
      "<strong>November 21, 2026 at 7:10 PM GMT+1</strong><span>11/21/2026, 1:10 PM EST</span>",
      "November 21, 2026 at 7:10 PM GMT+1 11/21/2026, 1:10 PM EST"
    ],
    [
      "local time in its zone, and as it is what is no instant, or no zone",
      [
        { type: "date-time", iso: "2026-07-01T09:00", timeZone: "Europe/Berlin" },
        { type: "date-time", iso: "2026-07-01", timeZone: "Europe/Berlin", format: "locale" },
        { type: "date-time", iso: "soon", timeZone: "Europe/Berlin" },
        { type: "date-time", iso: "2026-99-01", timeZone: "Europe/Berlin" },
        { type: "date-time", iso: "2026-07-01T09:00:00Z", timeZone: "Mars/Olympus", format: "at" }
      ],
      "<span>July 1, 2026 at 9:00 AM GMT+2</span><span>7/1/2026, 12:00 AM GMT+2</span><span>soon</span>" +
        "<span>2026-99-01</span><span>July 1, 2026 at 9:00 AM UTC</span>",
      "July 1, 2026 at 9:00 AM GMT+2 7/1/2026, 12:00 AM GMT+2 soon 2026-99-01 July 1, 2026 at 9:00 AM UTC"
    ],
    [
      "icons, which plain text leaves out",
      [{ type: "icon", name: "calendar" }, { type: "icon", name: "map" }, p("Here")],
      '<span aria-hidden="true">&#128197;</span><span aria-hidden="true">&#128506;</span><p>Here</p>',
      "Here"
    ],
    [
      "labels of mechanisms, and the input where it is none",
      [
        { type: "dynamic-text", transform: "distribution-type-label", input: "{{distributionType}}" },
        { type: "dynamic-text", transform: "distribution-type-label", input: "timed-release" },
        { type: "dynamic-text", transform: "waitlist-action-text", input: "DRAW", className: "d" },
        { type: "dynamic-text", transform: "waitlist-action-text", input: "constructor" }
      ],
      '<span>Queue</span><span>Timed release</span><span class="d">Enter the draw</span><span>constructor</span>',
      "Queue Timed release Enter the draw constructor"
    ],
    [
      "a footer, with what it has",
      [
        {
          type: "footer",
          supportEmail: "help@brand.example",
          footerMessage: "See you",
          physicalAddress: "1 Main Street",
          unsubscribeLink: "https://brand.example/out"
        }
      ],
      '<div style="color:#767676;font-size:12px"><p>See you</p><p>1 Main Street</p>' +
        '<p><a href="mailto:help@brand.example" style="color:#767676">help@brand.example</a></p>' +
        '<p><a href="https://brand.example/out" style="color:#767676">Unsubscribe</a></p></div>',
      "See you\n1 Main Street\nhelp@brand.example\nUnsubscribe: https://brand.example/out"
    ],
    [
      "a footer without a link that its placeholder does not give, and an address that is none as it is",
      [{ type: "footer", supportEmail: "call us", unsubscribeLink: "{{ unsubscribe }}" }],
      '<div style="color:#767676;font-size:12px"><p>call us</p></div>',
      "call us"
    ]
  ] as const) {
    it(`shows ${what}`, () => assert.deepStrictEqual(shown(nodes), [html, text]))
  }

  it("shows a button, which says Open where it has no words", () => {
    const [html, text] = shown([
      { type: "button", href: "https://shop.example/drop/{{distributionId}}", content: "To the shop" },
      { type: "button", href: "https://shop.example/" }
    ])
    const address = `https://shop.example/drop/${values.distributionId}`
    assert.match(html!, /^<div style="margin:16px 0"><a style="display:inline-block;[^"]+" href="https:/)
    assert.include(html!, `href="${address}">To the shop</a>`)
    assert.include(html!, `href="https://shop.example/">Open</a>`)
    assert.strictEqual(text, `To the shop: ${address}\n\nOpen: https://shop.example/`)
  })

  it("is a whole page, titled with its subject, which is one line", () => {
    const { subject, html } = rendered([], { subject: " {{consumerName}},\r\nBcc: you & <me>\t{{experienceName}} " })
    assert.strictEqual(subject, "Ada, Bcc: you & <me> Sneaker drop")
    assert.match(html, /^<!doctype html>\n<html lang="en"><head><meta charset="utf-8">/)
    assert.include(html, "<title>Ada, Bcc: you &amp; &lt;me&gt; Sneaker drop</title>")
    assert.lengthOf(rendered([], { subject: "x".repeat(500) }).subject, 200)
    assert.lengthOf(rendered([], { subject: `${"x".repeat(199)}👟` }).subject, 199)
  })

  it("wears the theme it is given, and its own before that", () => {
    const nodes = [
      { type: "heading", level: 1, content: "Hi" },
      { type: "button", href: "https://a.example/" }
    ]
    const theme = {
      background: "#111",
      primary: "rgb(1, 2, 3)",
      fontFamily: "'Inter', sans-serif",
      fontHeading: "Georgia"
    }
    const { html } = rendered(nodes, { theme, themeOverrides: { primary: "#abcdef" } })
    assert.include(html, "background:#111")
    assert.include(html, "background:#abcdef")
    assert.include(html, "font-family:&#39;Inter&#39;, sans-serif")
    assert.include(html, '<h1 style="font-family:Georgia">Hi</h1>')
    assert.notInclude(html, "rgb(1, 2, 3)")
  })

  it("has every node of the vocabulary at any depth, in every document", () => {
    const all = shown([...fullNodes, ...nested(64, p("deep"))])
    assert.include(all[0]!, "<p>deep</p>")
    assert.include(all[1]!, "deep")
    for (let index = 0; index < 200; index++) {
      const document = anyDocument(createHash("sha256").update(`rendering ${index}`).digest("hex").slice(0, 32))
      const decoded = Schema.decodeUnknownResult(Schema.toCodecJson(EmailDocument))(document)
      if (Result.isFailure(decoded)) continue
      const { html, text } = renderEmail(decoded.success, values, {})
      const seen = html.replaceAll(/ class="[^"]*"/g, "") + text
      assert.notInclude(seen, "{{")
      assert.notInclude(seen, "undefined")
    }
  })
})

describe("Instants", () => {
  it("beyond the first hundred stay as they are", () => {
    const nodes = Array.from({ length: 102 }, (_, index) => ({
      type: "date-time",
      iso: `2026-07-01T09:00:00.${`${index}`.padStart(3, "0")}Z`,
      timeZone: "UTC"
    }))
    const [html, text] = shown([...nodes, nodes[0]!])
    assert.include(html!, "<span>2026-07-01T09:00:00.100Z</span><span>2026-07-01T09:00:00.101Z</span>")
    assert.notInclude(html!, ".099Z")
    assert.match(text!, /AM UTC 2026-07-01T09:00:00.100Z 2026-07-01T09:00:00.101Z July 1, 2026 at 9:00 AM UTC$/)
  })
})

describe("Placeholders", () => {
  it("become their values, with or without spaces; unknown ones become empty", () => {
    const [html, text] = shown([
      p("{{consumerName}} {{ experienceName }} [{{nobody}}{{toString}}{{grantedAt}}] {{}} { {x}")
    ])
    assert.strictEqual(text, "Ada Sneaker drop []  { {x}")
    assert.strictEqual(html, `<p>${text}</p>`)
  })

  it("are not replaced within inserted values", () => {
    const [, text] = shown([p("{{consumerName}}")], { values: { ...values, consumerName: "{{expiresAt}} $& $1" } })
    assert.strictEqual(text, "{{expiresAt}} $& $1")
  })

  it("stay one part of an address with any value", () => {
    const hostile = { ...values, consumerName: "a/../b?c=d&e#f @evil.example" }
    const [html] = shown([{ type: "link", href: "https://shop.example/{{consumerName}}/x", content: "x" }], {
      values: hostile
    })
    assert.include(html!, 'href="https://shop.example/a%2F..%2Fb%3Fc%3Dd%26e%23f%20%40evil.example/x"')
    const [whole] = shown([{ type: "link", href: "{{consumerName}}", content: "x" }], {
      values: { ...values, consumerName: "javascript:alert(1)" }
    })
    assert.strictEqual(whole, "<span>x</span>")
  })
})

describe("Hostile text", () => {
  const tag = `"><script>alert('1')</script>`
  const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"

  it("is escaped wherever a document can have text", () => {
    const nodes = [
      {
        type: "section",
        className: tag,
        children: [{ type: "row", className: tag, children: [{ type: "column", className: tag, children: [] }] }]
      },
      { type: "hr", className: tag },
      { type: "heading", level: 1, className: tag, content: tag },
      p(tag, { className: tag }),
      { type: "link", href: `https://a.example/${tag}`, className: tag, content: tag },
      { type: "button", href: `https://a.example/${tag}`, content: tag },
      { type: "image", src: `https://a.example/${tag}`, alt: tag, className: tag, href: `https://a.example/${tag}` },
      { type: "date-time", iso: tag, timeZone: tag, className: tag },
      { type: "dynamic-text", transform: "distribution-type-label", input: tag, className: tag },
      {
        type: "footer",
        className: tag,
        supportEmail: tag,
        footerMessage: tag,
        physicalAddress: tag,
        unsubscribeLink: `https://a.example/${tag}`
      },
      p("{{consumerName}}"),
      { type: "image", src: "none", alt: "{{consumerName}}" }
    ]
    const { html } = rendered(nodes, {
      subject: tag,
      values: { ...values, consumerName: tag },
      theme: { background: `red;} ${tag}`, fontFamily: tag, fontHeading: "x;color:red" }
    })
    assert.notInclude(html, "<script")
    assert.notInclude(html, `"><s`)
    assert.notInclude(html, "color:red")
    // Each attribute ends where it should: what is left without all tags is text.
    assert.notMatch(html.replaceAll(/<[a-z!/][^<>]*>/g, ""), /[<>"]/)
    assert.include(html, `<p class="${escaped}">${escaped}</p>`)
    assert.include(html, `alt="${escaped}"`)
  })

  it("is no link and no image where its address does more than lead somewhere", () => {
    for (const href of [
      "javascript:alert(1)",
      " JavaScript:alert(1)",
      "data:text/html,x",
      "vbscript:x",
      "file:///etc",
      "//a.example",
      "/x",
      "x"
    ]) {
      const link = { type: "link", href, content: "x" }
      assert.deepStrictEqual(shown([link]), ["<span>x</span>", "x"], href)
      const image = { type: "image", src: href, alt: "x", href }
      assert.deepStrictEqual(shown([image]), ["<span>x</span>", "x"], href)
    }
    assert.notInclude(shown([{ type: "button", href: "javascript:alert(1)", content: "x" }])[0]!, "javascript")
    assert.notInclude(shown([{ type: "footer", supportEmail: "a@b.c?bcc=d@e.f" }])[0]!, "mailto")
  })

  it("of a theme is no style where it could load something or be more than a value", () => {
    for (const value of [
      "url(https://a.example)",
      "red;color:blue",
      "red}",
      "/**/red",
      "expression(1)",
      "\\75rl(x)",
      "<red>"
    ]) {
      const { html } = rendered([], { theme: { background: value, surface: value, text: value, fontFamily: value } })
      assert.notInclude(html, value)
    }
  })

  it("cannot make a placeholder that is looked for without end", () => {
    const long = "{{".repeat(30_000) + "{{a ".repeat(10_000)
    const { text } = rendered([p(long), { type: "link", href: long, content: long }], { subject: long })
    assert.include(text, "{{a")
  })
})

describe("An SMS", () => {
  const written = (textTemplate: string) => renderSms(decodeSms(sms({ body: { textTemplate } })), values)

  it("is its text with its placeholders filled in, as it is, at most as long as one message", () => {
    assert.strictEqual(
      written(" {{consumerName}}: <b>{{experienceName}}</b> & more\n"),
      "Ada: <b>Sneaker drop</b> & more"
    )
    assert.lengthOf(written("x".repeat(5_000)), 1_600)
    assert.strictEqual(written("{{nobody}}"), "")
  })
})
