/** The product of a new drop: one of the catalogue, or a new one with picture and sizes. */
import type { AdminAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import type { Form } from "../form/Form.ts"
import { numberIn, textIn } from "../form/Typed.ts"

type Product = AdminAnswer<"products", "listProducts">["data"][number]

/** Rows for sizes at first, and more each time a person asks. */
const rowsFirst = 4
const rowsMore = 6
const rowsMax = 60

/** The choices that are no product of the catalogue. */
const isNew = "new"
const isNone = "none"

/** The field of the product's picture. */
export const pictureField = "product.picture"

const rowsOf = (fields: URLSearchParams | undefined): number => {
  const sent = Number(fields?.get("sizes") ?? rowsFirst)
  const rows = Number.isInteger(sent) && sent > 0 ? sent : rowsFirst
  return Math.min(rowsMax, rows + (fields?.get("do") === "more" ? rowsMore : 0))
}

/** The questions about the product of a drop. */
export const productFields = (
  form: Form,
  products: ReadonlyArray<Product>,
  fields: URLSearchParams | undefined
): Html => {
  return html`<section class="card">
    <h2>What is it?</h2>
    ${form.select("product", {
      label: "Product",
      value: isNew,
      choices: [
        [isNew, "A new product, from the fields below"],
        [isNone, "No product"],
        ...products.map(({ id, name }) => [id, name] as const)
      ],
      hint: "A product of your catalogue brings its picture, sizes and prices."
    })}
    ${newProductFields(form, fields)}
  </section>`
}

/** The questions about a new product. Alone, it needs a name. */
export const newProductFields = (form: Form, fields: URLSearchParams | undefined, isAlone = false): Html => {
  const rows = rowsOf(fields)
  return html`<div class="columns">
      ${form.input("product.name", {
        label: "Name of the product",
        isOptional: !isAlone,
        ...(!isAlone && { hint: "Empty: the name of the drop." })
      })}
      ${form.input("product.price", { label: "Price", isOptional: true, placeholder: "129.00", hint: "In the currency of its drop." })}
      ${form.picture(pictureField, { label: "Its picture", address: "Address of its picture" })}
      ${form.input("product.alt", { label: "What the picture shows", isOptional: true, hint: "Read to people who do not see it." })}
      ${form.input("product.url", {
        label: "Its page in your shop",
        type: "url",
        isOptional: true,
        placeholder: "https://shop.example/aurora",
        hint: "Where people continue at their turn. Without it people with a turn find no way to your shop."
      })}
      ${form.input("product.option", { label: "It differs in", value: "Size", isOptional: true })}
    </div>
    ${form.area("product.description", { label: "Description", rows: 2 })}
    <input type="hidden" name="sizes" value="${rows}" />
    <fieldset class="rows">
      <legend>Sizes</legend>
      <p class="hint">One in each row, with the units in stock. Without a number, stock is not counted.</p>
      ${Array.from(
        { length: rows },
        (_, row) =>
          html`<div class="row">
            ${form.input(`size.${row}`, { label: `Size ${row + 1}`, isOptional: true })}
            ${form.input(`stock.${row}`, { label: `Stock of size ${row + 1}`, type: "number", isOptional: true })}
          </div>`
      )}
    </fieldset>
    ${rows < rowsMax && html`<button name="do" value="more" class="quiet" formnovalidate>More sizes</button>`}`
}

/** A product in the body that creates the experience, and the row of each of its variants. */
interface ChosenProduct {
  readonly body: object
  readonly rows: ReadonlyArray<number>
}

/** Returns the part of the body of a drop about its product. */
export const productIn = (fields: URLSearchParams, dropName: string): ChosenProduct => {
  const chosen = fields.get("product") ?? isNew
  if (chosen === isNone) return { body: {}, rows: [] }
  if (chosen !== isNew) return { body: { products: [{ productId: chosen }] }, rows: [] }
  const { product, rows } = newProductIn(fields, dropName)
  return { body: { newProducts: [product] }, rows }
}

/** Returns the body that creates a product, and the row of each of its sizes. */
export const newProductIn = (fields: URLSearchParams, otherName: string) => {
  const text = (name: string) => textIn(fields, `product.${name}`)
  const rows = Array.from({ length: rowsOf(fields) }, (_, row) => row).filter(
    (row) => textIn(fields, `size.${row}`) !== undefined
  )
  const [price, picture, altText, url, description] = ["price", "picture", "alt", "url", "description"].map(text)
  const option = text("option") ?? "Size"
  const sized = rows.map((row) => {
    const stock = numberIn(fields, `stock.${row}`)
    return {
      price,
      options: [{ option, value: textIn(fields, `size.${row}`) }],
      ...(stock !== undefined && { inventoryQuantity: stock, inventoryPolicy: "deny" })
    }
  })
  const product = {
    name: text("name") ?? otherName,
    url,
    description,
    ...(picture !== undefined && { pictures: [{ url: picture, altText }] }),
    variants: rows.length > 0 ? sized : price === undefined ? [] : [{ price }]
  }
  return { product, rows }
}

/** Returns the field for the path of a value of a drop's product. */
export const productFieldAt = (path: ReadonlyArray<string>, rows: ReadonlyArray<number>): string | undefined => {
  const [list, , ...below] = path
  if (list === "products") return "product"
  return list === "newProducts" ? newProductFieldAt(below, rows) : undefined
}

/** Returns the field for the path of a value below a new product. */
export const newProductFieldAt = (path: ReadonlyArray<string>, rows: ReadonlyArray<number>): string | undefined => {
  const [setting, index, inner] = path
  switch (setting) {
    case "pictures":
      return path.at(-1) === "altText" ? "product.alt" : "product.picture"
    case "variants": {
      const row = rows[Number(index)]
      if (inner === "inventoryQuantity" && row !== undefined) return `stock.${row}`
      if (inner === "options" && row !== undefined) return path.at(-1) === "option" ? "product.option" : `size.${row}`
      return "product.price"
    }
    default:
      return setting !== undefined && ["name", "url", "description"].includes(setting)
        ? `product.${setting}`
        : undefined
  }
}
