import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { createHash } from "node:crypto"
import { bodyDepthMax, ReceivedDocument } from "../../../../src/domain/experience/creative/Document.ts"
import { nodeLevelsMax, nodesMax } from "../../../../src/domain/experience/creative/EmailNode.ts"
import { issuesMax, issuesOf } from "../../../../src/http/errors/Issues.ts"
import { anyDocument, email, fullNodes, nested, rich, sms } from "./documents.ts"

const decode = Schema.decodeUnknownResult(Schema.toCodecJson(Schema.Struct({ document: ReceivedDocument })), {
  errors: "all"
})

/** The path and the check of each issue, below the document; none if it is accepted. */
const issues = (document: unknown): ReadonlyArray<string> => {
  const input = { document }
  const outcome = decode(input)
  if (Result.isSuccess(outcome)) return []
  return issuesOf(outcome.failure.issue, input).map(({ path, type }) => {
    const [, ...below] = path.map(({ key }) => key)
    return `${below.join(".")}: ${type}`
  })
}

/** The result of decoding an accepted document. */
const accepted = (document: unknown): unknown => Result.getOrThrow(decode({ document })).document

const without = (value: object, field: string) =>
  Object.fromEntries(Object.entries(value).filter(([name]) => name !== field))

const seedOf = (index: number) => createHash("sha256").update(`document ${index}`).digest("hex").slice(0, 32)

describe("A creative document", () => {
  it("is an email, a text message or free content, in the kinds of its editor", () => {
    for (const document of [
      email([]),
      email([], { kind: "transactional-email" }),
      sms(),
      sms({ kind: "transactional-sms" }),
      rich(),
      rich({ "": [1, null, { deep: true }] }, { kind: "announcement-social" })
    ]) {
      assert.deepStrictEqual(accepted(document), document)
    }
  })

  for (const [what, document, expected] of [
    ["nothing", undefined, [": object"]],
    ["null", null, [": object"]],
    ["an array", [], [": object"]],
    ["no editor", without(sms(), "editor"), ["editor: picklist"]],
    ["an unknown editor", sms({ editor: "sms-text-v2" }), ["editor: picklist"]],
    ["an editor that is no text", sms({ editor: 1 }), ["editor: picklist"]],
    ["no version", without(sms(), "schemaVersion"), ["schemaVersion: picklist"]],
    ["another version", sms({ schemaVersion: 2 }), ["schemaVersion: picklist"]],
    ["a version that is text", sms({ schemaVersion: "1" }), ["schemaVersion: picklist"]],
    ["no kind", without(sms(), "kind"), ["kind: picklist"]],
    ["a text message of an email's kind", sms({ kind: "announcement-email" }), ["kind: picklist"]],
    ["an email of a text message's kind", email([], { kind: "transactional-sms" }), ["kind: picklist"]],
    ["free content of an email's kind", rich({}, { kind: "transactional-email" }), ["kind: picklist"]],
    ["no body", without(sms(), "body"), ["body: object"]],
    ["an email without its parts", email([], { body: {} }), ["body.subjectTemplate: string", "body.nodes: array"]],
    ["an empty subject", email([], { body: { subjectTemplate: "", nodes: [] } }), ["body.subjectTemplate: min_length"]],
    ["nodes that are no array", email({}), ["body.nodes: array"]],
    ["a text message without text", sms({ body: {} }), ["body.textTemplate: string"]],
    ["a text message with empty text", sms({ body: { textTemplate: "" } }), ["body.textTemplate: min_length"]],
    ["free content that is an array", rich([]), ["body: object"]],
    ["free content that is text", rich("x"), ["body: object"]],
    ["text that cannot be stored", sms({ body: { textTemplate: "a\u0000" } }), ["body.textTemplate: string"]],
    ["free content that cannot be stored", rich({ a: [{ "\ud800": 1 }] }), ["body: json"]],
    ["a theme that is none", sms({ themeOverrides: null }), ["themeOverrides: object"]],
    [
      "a theme of wrong parts",
      sms({ themeOverrides: { primary: 1, logoUrl: "logo", headerImageUrl: "", variant: "square" } }),
      [
        "themeOverrides.primary: string",
        "themeOverrides.headerImageUrl: string",
        "themeOverrides.logoUrl: string",
        "themeOverrides.variant: picklist"
      ]
    ],
    [
      "everything wrong at once",
      email([{ type: "hr" }, { type: "icon", name: "house" }], { kind: "x", schemaVersion: 0 }),
      ["schemaVersion: picklist", "kind: picklist", "body.nodes.1.name: picklist"]
    ]
  ] as const) {
    it(`is refused with ${what}, and says where`, () => assert.deepStrictEqual(issues(document), expected))
  }

  it("takes each field of a theme, and each variant", () => {
    const colours = ["background", "danger", "muted", "primary", "secondary", "success", "surface", "text", "warning"]
    const fields = [...colours, "fontFamily", "fontHeading"]
    const theme = {
      ...Object.fromEntries(fields.map((field) => [field, field])),
      headerImageUrl: "https://example.com/a.png",
      logoUrl: "https://example.com/b.png"
    }
    for (const variant of ["default", "retro", "rounded", "clean"]) {
      const document = sms({ themeOverrides: { ...theme, variant } })
      assert.deepStrictEqual(accepted(document), document)
    }
    for (const field of fields) {
      assert.deepStrictEqual(issues(sms({ themeOverrides: { [field]: 1 } })), [`themeOverrides.${field}: string`])
    }
  })

  it("says which editors there are", () => {
    const input = { document: sms({ editor: "x" }) }
    const outcome = decode(input)
    assert.isTrue(Result.isFailure(outcome))
    if (Result.isSuccess(outcome)) return
    const [issue] = issuesOf(outcome.failure.issue, input)
    assert.strictEqual(issue?.expected, '("email-components-v1" | "sms-text-v1" | "rich-content-v0")')
    assert.deepStrictEqual([issue?.kind, issue?.received], ["validation", '"x"'])
  })

  it("loses unknown fields, but keeps all free content", () => {
    const odd = { ...email([{ type: "icon", name: "map", className: "a" }]), odd: 1 }
    assert.deepStrictEqual(accepted(odd), email([{ type: "icon", name: "map" }]))
    const free = rich(JSON.parse('{"__proto__": {"type": "x"}, "constructor": 1}'))
    assert.strictEqual(JSON.stringify(accepted(free)), JSON.stringify(free))
  })

  it("is accepted and returned unchanged in every form that the schemas allow", () => {
    for (let index = 0; index < 200; index++) {
      const document = anyDocument(seedOf(index))
      const outcome = decode({ document })
      assert.isTrue(Result.isSuccess(outcome), `seed ${seedOf(index)}: ${issues(document)}`)
      assert.deepStrictEqual(accepted(document), document, `seed ${seedOf(index)}`)
    }
  })
})

describe("A node of an email", () => {
  it("has all the fields of its type, also within another", () => {
    assert.lengthOf(fullNodes, 13)
    for (const nodes of [fullNodes, nested(3, { type: "column", children: fullNodes })]) {
      assert.deepStrictEqual(accepted(email(nodes)), email(nodes))
    }
  })

  const required: { readonly [type: string]: ReadonlyArray<string> } = {
    section: ["children: array"],
    row: ["children: array"],
    column: ["children: array"],
    hr: [],
    heading: ["level: number", "content: string"],
    p: ["content: string"],
    link: ["href: string", "content: string"],
    button: ["href: string"],
    image: ["src: string", "alt: string"],
    "date-time": ["iso: string", "timeZone: string"],
    icon: ["name: picklist"],
    "dynamic-text": ["transform: picklist", "input: string"],
    footer: ["supportEmail: string"]
  }
  for (const [type, fields] of Object.entries(required)) {
    it(`of type ${type} must have ${fields.length === 0 ? "nothing else" : fields.join(" and ")}`, () =>
      assert.deepStrictEqual(
        issues(email([{ type }])),
        fields.map((field) => `body.nodes.0.${field}`)
      ))
  }

  it("has no field of another kind of value", () => {
    for (const node of fullNodes) {
      for (const field of Object.keys(node)) {
        if (field === "type") continue
        const found = issues(email([{ ...node, [field]: { not: "this" } }]))
        assert.lengthOf(found, 1, `${node.type}.${field}`)
        assert.match(found[0]!, new RegExp(`^body\\.nodes\\.0\\.${field}: (string|number|picklist|array)$`))
      }
    }
  })

  for (const [node, expected] of [
    [{ type: "heading", level: 0, content: "x" }, "level: min_value"],
    [{ type: "heading", level: 7, content: "x" }, "level: max_value"],
    [{ type: "heading", level: 1.5, content: "x" }, "level: integer"],
    [{ type: "heading", level: 1, content: "" }, "content: min_length"],
    [{ type: "p", content: "", tag: "div" }, "tag: picklist"],
    [{ type: "p", content: "", variant: "wide" }, "variant: picklist"],
    [{ type: "link", href: "", content: "x" }, "href: min_length"],
    [{ type: "link", href: "x", content: "" }, "content: min_length"],
    [{ type: "button", href: "" }, "href: min_length"],
    [{ type: "image", src: "", alt: "x" }, "src: min_length"],
    [{ type: "image", src: "x", alt: "" }, "alt: min_length"],
    [{ type: "image", src: "x", alt: "x", height: 0 }, "height: min_value"],
    [{ type: "image", src: "x", alt: "x", height: 1.5 }, "height: integer"],
    [{ type: "image", src: "x", alt: "x", width: 0 }, "width: min_value"],
    [{ type: "image", src: "x", alt: "x", width: 1.5 }, "width: integer"],
    [{ type: "date-time", iso: "", timeZone: "UTC" }, "iso: min_length"],
    [{ type: "date-time", iso: "x", timeZone: "" }, "timeZone: min_length"],
    [{ type: "date-time", iso: "x", timeZone: "x", format: "long" }, "format: picklist"],
    [{ type: "date-time", iso: "x", timeZone: "x", tag: "p" }, "tag: picklist"],
    [{ type: "icon", name: "clock" }, "name: picklist"],
    [{ type: "dynamic-text", transform: "shout", input: "x" }, "transform: picklist"],
    [{ type: "dynamic-text", transform: "waitlist-action-text", input: "" }, "input: min_length"],
    [{ type: "footer", supportEmail: "" }, "supportEmail: min_length"],
    [{ type: "footer", supportEmail: "x", unsubscribeLink: "ftp://x" }, "unsubscribeLink: string"],
    [{ type: "footer", supportEmail: "x", unsubscribeLink: "{ x }" }, "unsubscribeLink: string"],
    [{ type: "section", children: [{ type: "row", children: [5] }] }, "children.0.children.0: object"],
    [{ type: "section", children: {} }, "children: array"],
    [{ type: "marquee" }, "type: picklist"],
    [{ type: "constructor" }, "type: picklist"],
    [{}, "type: picklist"],
    [[], "0"],
    [null, "0"]
  ] as const) {
    it(`is refused as ${JSON.stringify(node)}`, () => {
      const at = expected === "0" ? ": object" : `.${expected}`
      assert.deepStrictEqual(issues(email([node])), [`body.nodes.0${at}`])
      assert.deepStrictEqual(issues(email([{ type: "hr" }, { type: "column", children: [node] }])), [
        `body.nodes.1.children.0${at}`
      ])
    })
  }

  it("takes each way to unsubscribe", () => {
    for (const unsubscribeLink of ["http://x", "https://x", "{{x"]) {
      const document = email([{ type: "footer", supportEmail: "x", unsubscribeLink }])
      assert.deepStrictEqual(accepted(document), document)
    }
  })

  it("of an unknown type is told the thirteen", () => {
    const input = { document: email([{ type: "marquee" }]) }
    const outcome = decode(input)
    if (Result.isSuccess(outcome)) return assert.fail("it was accepted")
    const [issue] = issuesOf(outcome.failure.issue, input)
    for (const { type } of fullNodes) assert.include(issue?.expected, `"${type}"`)
    return undefined
  })
})

describe("The limits of a document", () => {
  it("let nodes stand so deep and no deeper, however deep they are", () => {
    assert.deepStrictEqual(issues(email(nested(nodeLevelsMax))), [])
    assert.deepStrictEqual(issues(email(nested(nodeLevelsMax, { type: "x" }))), [
      `body.nodes.0.${"children.0.".repeat(nodeLevelsMax - 1)}type: picklist`
    ])
    for (const levels of [nodeLevelsMax + 1, 200, 50_000]) {
      assert.deepStrictEqual(issues(email(nested(levels))), ["body.nodes: json"])
    }
  })

  it("let there be so many nodes and no more, wherever they stand", () => {
    const many = (count: number) => Array.from({ length: count }, () => ({ type: "hr" }))
    assert.deepStrictEqual(issues(email(many(nodesMax))), [])
    for (const nodes of [many(nodesMax + 1), [{ type: "row", children: many(nodesMax) }], many(80_000)]) {
      assert.deepStrictEqual(issues(email(nodes)), ["body.nodes: json"])
    }
  })

  it("let free content be so deep and no deeper", () => {
    const deep = (depth: number) => JSON.parse(`{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`)
    assert.deepStrictEqual(issues(rich(deep(bodyDepthMax))), [])
    for (const depth of [bodyDepthMax + 1, 100_000]) assert.deepStrictEqual(issues(rich(deep(depth))), ["body: json"])
  })

  it("keep the issues few, however many mistakes there are", () => {
    assert.lengthOf(issues(email(Array.from({ length: 1_000 }, () => ({ type: "image" })))), issuesMax)
  })
})
