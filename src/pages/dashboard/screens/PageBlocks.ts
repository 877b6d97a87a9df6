/**
 * The blocks of a page as fields. What a block has besides its fields, and a block of a type without fields, travel in a
 * hidden field and stay as they are. Moving and removing show the form again; only "Save" saves.
 */
import { Option, Predicate, Schema } from "effect"
import { html, type Html } from "../../Html.ts"
import { type Choice, Form } from "../form/Form.ts"
import { formId } from "../FormId.ts"

/** A node of `body.blocks`. */
type Block = { readonly [name: string]: unknown }

/** A field of a block. An empty one that may be is left out of the block. */
interface BlockField {
  readonly name: string
  readonly label: string
  readonly kind?: "area" | "picture" | "level"
  readonly isOptional?: boolean
  readonly placeholder?: string
}

interface BlockType {
  readonly title: string
  readonly fields: ReadonlyArray<BlockField>
  /** What the room fills in its place. */
  readonly says?: string
}

const content = { name: "content", label: "Text" } as const
const href = { name: "href", label: "Address", placeholder: "https://shop.example" } as const

/** The types with fields, and those that the room fills. */
const types: { readonly [type: string]: BlockType } = {
  heading: { title: "Heading", fields: [content, { name: "level", label: "Size", kind: "level" }] },
  p: { title: "Text", fields: [{ ...content, kind: "area" }] },
  image: {
    title: "Picture",
    fields: [
      { name: "src", label: "Picture", kind: "picture" },
      { name: "alt", label: "What it shows, for those who do not see it" },
      { ...href, label: "Address that it leads to", isOptional: true }
    ]
  },
  button: { title: "Button", fields: [{ ...content, isOptional: true }, href] },
  link: { title: "Link", fields: [content, href] },
  "date-time": {
    title: "Date and time",
    fields: [
      { name: "iso", label: "Instant", placeholder: "2027-03-01T18:00:00Z" },
      { name: "timeZone", label: "Time zone", placeholder: "Europe/Paris" }
    ]
  },
  hr: { title: "Line", fields: [] },
  place: { title: "The visitor’s place", fields: [], says: "Here people enter, and see their place." },
  countdown: { title: "Countdown", fields: [], says: "The time until the opening." },
  products: { title: "Products", fields: [], says: "The products of the drop." },
  rules: { title: "How it works", fields: [], says: "A sentence about each way to take part." }
}

/** Blocks of a form. A longer page is edited as its source. */
const blocksMax = 100

/** Returns the blocks of a page's document; undefined for another document, and for a page that is too long. */
export const blocksOf = (document: unknown): ReadonlyArray<Block> | undefined => {
  const body = Predicate.hasProperty(document, "body") ? document.body : undefined
  const kind = Predicate.hasProperty(document, "kind") ? document.kind : undefined
  const blocks = Predicate.hasProperty(body, "blocks") ? body.blocks : undefined
  if (kind !== "experience-page" || !Array.isArray(blocks) || blocks.length > blocksMax) return undefined
  return blocks.every((block) => Predicate.isObject(block)) ? blocks : undefined
}

const nameOf = (index: number, field: string): string => `block.${index}.${field}`

/** The fields with pictures of a form with so many blocks. */
export const pictureNames = (fields: URLSearchParams): ReadonlyArray<string> =>
  Array.from({ length: countIn(fields) }, (_, index) => nameOf(index, "src"))

/** The form of a page: title and slug as fields, and its blocks. */
export const blockForm = (path: string, document: object, blocks: ReadonlyArray<Block>, head: Html): Html => {
  const form = new Form()
  return html`<form method="post" action="${path}" enctype="multipart/form-data" class="card">
    ${formId()}
    <button name="do" value="save" class="unseen" tabindex="-1" aria-hidden="true">Save</button>
    ${head}
    <input type="hidden" name="blocks" value="${blocks.length}" />
    <input type="hidden" name="rest" value="${JSON.stringify(document)}" />
    ${blocks.map((block, index) => blockFields(form, block, index, blocks.length))}
    <div class="adding">
      <label
        >New block
        <select name="new">
          ${Object.entries(types).map(([type, { title }]) => html`<option value="${type}">${title}</option>`)}
        </select></label
      >
      <button name="do" value="add" class="quiet" formnovalidate>Add</button>
    </div>
    <button name="do" value="save">Save</button>
    <button name="do" value="preview" class="quiet">Preview without saving</button>
  </form>`
}

const blockFields = (form: Form, block: Block, index: number, count: number): Html => {
  const type = typeof block["type"] === "string" ? block["type"] : "?"
  const known = typeOf(type)
  const title = known?.title ?? type
  const move = (to: string, label: string) =>
    html`<button
      name="do"
      value="${to}.${index}"
      class="quiet"
      formnovalidate
      aria-label="${label}: ${title}, block ${index + 1}"
    >
      ${label}
    </button>`
  return html`<fieldset class="block">
    <legend>${index + 1}. ${title}</legend>
    <input type="hidden" name="${nameOf(index, "rest")}" value="${JSON.stringify(block)}" />
    ${known?.says !== undefined && html`<p class="hint">${known.says}</p>`}
    ${known === undefined && html`<p class="hint">This block has no fields. It stays as it is; the source has it.</p>`}
    ${(known?.fields ?? []).map((field) => fieldOf(form, nameOf(index, field.name), field, block[field.name]))}
    <p>${index > 0 && move("up", "Up")} ${index < count - 1 && move("down", "Down")} ${move("remove", "Remove")}</p>
  </fieldset>`
}

const typeOf = (type: string): BlockType | undefined => (Object.hasOwn(types, type) ? types[type] : undefined)

const levels: ReadonlyArray<Choice> = [
  ["1", "Large"],
  ["2", "Medium"],
  ["3", "Small"]
]

const fieldOf = (form: Form, name: string, field: BlockField, value: unknown): Html => {
  const { label, kind, isOptional = false, placeholder } = field
  const text = typeof value === "string" || typeof value === "number" ? `${value}` : ""
  switch (kind) {
    case "area":
      return form.area(name, { label, value: text })
    case "picture":
      return form.picture(name, { label, address: "Address of the picture", value: text })
    case "level":
      return form.select(name, {
        label,
        value: text || "2",
        choices: levels.some(([level]) => level === text) || text === "" ? levels : [...levels, [text, `Level ${text}`]]
      })
    default:
      return form.input(name, { label, value: text, isOptional, ...(placeholder !== undefined && { placeholder }) })
  }
}

const countIn = (fields: URLSearchParams): number => {
  const text = fields.get("blocks") ?? ""
  return /^\d{1,3}$/.test(text) ? Math.min(Number(text), blocksMax) : 0
}

const parsed = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))
const objectIn = (text: string | null) => Option.getOrUndefined(parsed(text ?? ""))

/** True if the form is one of blocks. */
export const hasBlocks = (fields: URLSearchParams): boolean => fields.has("blocks")

/** Returns the document of a form of blocks, after the step that it asks for. */
export const documentOf = (fields: URLSearchParams): object => {
  const rest = objectIn(fields.get("rest")) ?? {}
  const body = Predicate.isObject(rest["body"]) ? rest["body"] : {}
  const blocks = Array.from({ length: countIn(fields) }, (_, index) => blockIn(fields, index))
  return { ...rest, body: { ...body, blocks: afterStep(blocks, fields) } }
}

const blockIn = (fields: URLSearchParams, index: number): Block => {
  const block: { [name: string]: unknown } = { ...objectIn(fields.get(nameOf(index, "rest"))) }
  for (const { name, kind, isOptional } of typeOf(`${block["type"]}`)?.fields ?? []) {
    const text = fields.get(nameOf(index, name))
    if (text === null) continue
    if (text.trim() === "" && isOptional === true) delete block[name]
    else block[name] = kind === "level" ? Number(text) : kind === "area" ? text.replaceAll("\r\n", "\n") : text.trim()
  }
  return block
}

/** The blocks after one was moved, removed or added. */
const afterStep = (blocks: ReadonlyArray<Block>, fields: URLSearchParams): ReadonlyArray<Block> => {
  const step = fields.get("do") ?? ""
  const added = fields.get("new") ?? ""
  if (step === "add") return typeOf(added) === undefined ? blocks : [...blocks, newBlock(added)]
  const [, move, text] = /^(up|down|remove)\.(\d{1,3})$/.exec(step) ?? []
  const at = Number(text)
  if (move === undefined || blocks[at] === undefined) return blocks
  const others = blocks.toSpliced(at, 1)
  if (move === "remove") return others
  return others.toSpliced(Math.max(0, move === "up" ? at - 1 : at + 1), 0, blocks[at])
}

/** A block with empty fields. */
const newBlock = (type: string): Block => ({
  type,
  ...Object.fromEntries(
    (typeOf(type)?.fields ?? [])
      .filter(({ isOptional }) => isOptional !== true)
      .map(({ name, kind }) => [name, kind === "level" ? 2 : ""])
  )
})
