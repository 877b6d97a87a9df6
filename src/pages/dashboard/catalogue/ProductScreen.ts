/** One product: its facts, its pictures in their order, and its sizes with price and stock. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isShownPicture } from "../../../domain/catalogue/Picture.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html, type Html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { Form, type Sent } from "../form/Form.ts"
import type { RefusedForm } from "../form/Refused.ts"
import { formId } from "../FormId.ts"
import { action } from "../Frame.ts"
import { linkButton } from "../Parts.ts"
import { facts } from "../Table.ts"

type Product = AdminAnswer<"products", "getProduct">
type Variant = Product["variants"][number]
type Media = Product["productMediaAssets"][number]

/** The forms of a product's screen. */
export type ProductForm = "product" | "picture" | "variant" | "newVariant"

const nothing = "Nothing was changed. This needs another look:"

/** Makes the function that shows a product. */
export const makeProductScreen = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, id: string, refused?: RefusedForm<ProductForm>) {
    const product = yield* api.run(operator, "products", "getProduct", { params: { id } })
    const archived = yield* api.run(operator, "variants", "listVariants", {
      query: { productId: id, archived: "true", first: "100" }
    })
    const path = `/dashboard/catalogue/${id}`
    const mayChange = mayDo(operator.role, "operator")
    const sentTo = (form: ProductForm, of?: string) =>
      refused?.form === form && refused.id === of ? refused : undefined
    return {
      title: product.name,
      status: refused === undefined ? 200 : 400,
      body: mayChange
        ? html`
            ${productForm(product, path, sentTo("product"))} ${picturesOf(product, path, sentTo("picture"))}
            <section class="card">
              <h2>Sizes and stock</h2>
              ${product.variants.length === 0 && html`<p class="muted">No size yet. Add one below, or leave it: a drop can offer a product without sizes.</p>`}
              ${product.variants.map((one) => variantForm(one, path, sentTo("variant", one.id)))}
              ${newVariantForm(path, sentTo("newVariant"))}
              ${product.variants.length > 0 && linkButton(`/dashboard/stocks/new?product=${id}`, "Sell them from one stock")}
            </section>
            ${archived.data.length > 0 && archivedOf(archived.data, path)}
            <section class="card">
              <h2>Archive</h2>
              <p class="muted">
                Takes the product out of the catalogue. Drops that offer it keep it from being archived.
              </p>
              ${action(`${path}/archive`, "Archive the product…", false, "quiet danger", true)}
            </section>
          `
        : html`<section class="card">${factsOf(product)}</section>`
    }
  })

export const nameOfVariant = ({ options, sku }: Pick<Variant, "options" | "sku">): string =>
  options.map(({ value }) => value).join(" / ") || sku || "One size"

const factsOf = ({ description, url, variants }: Product): Html =>
  facts([
    ["Description", description],
    ["Page in the shop", url],
    ...variants.map(
      (one) =>
        [nameOfVariant(one), `${one.price ?? "no price"}, stock ${one.inventoryQuantity ?? "not counted"}`] as const
    )
  ])

const productForm = (product: Product, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "product-")
  const fields = html`<div class="columns">
      ${form.input("name", { label: "Name", value: product.name })}
      ${form.input("url", {
        label: "Its page in your shop",
        type: "url",
        value: product.url ?? "",
        isOptional: true,
        placeholder: "https://shop.example/aurora",
        hint: "Where people continue at their turn. Without it they find no way to your shop."
      })}
      ${
        product.variants.length > 1 &&
        form.select("defaultVariantId", {
          label: "Size whose price is shown",
          value: product.defaultVariantId ?? "",
          choices: [["", "The first"], ...product.variants.map((one) => [one.id, nameOfVariant(one)] as const)]
        })
      }
    </div>
    ${form.area("description", { label: "Description", value: product.description ?? "", rows: 3 })}`
  return html`<section class="card">
    <h2>The product</h2>
    ${form.summary(nothing)}
    <form method="post" action="${path}">
      ${formId()}${fields}
      <button>Save</button>
    </form>
  </section>`
}

const picturesOf = ({ productMediaAssets: media }: Product, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "picture-")
  const fields = html`<div class="columns">
    ${form.picture("url", { label: "A picture", address: "Address of a picture" })}
    ${form.input("altText", { label: "What it shows", isOptional: true, hint: "Read to people who do not see it." })}
  </div>`
  return html`<section class="card">
    <h2>Pictures</h2>
    ${media.length === 0 && html`<p class="muted">No picture yet. Rooms show the first one.</p>`}
    <ol class="media">
      ${media.map((one, index) => pictureOf(one, path, { index, isLast: index === media.length - 1 }))}
    </ol>
    ${form.summary(nothing)}
    <form method="post" action="${path}/pictures" enctype="multipart/form-data">
      ${formId()}${fields}
      <button class="quiet">Add the picture</button>
    </form>
  </section>`
}

const pictureOf = (
  { id, mediaAsset }: Media,
  path: string,
  { index, isLast }: { readonly index: number; readonly isLast: boolean }
): Html => {
  const address = mediaAsset.publicUrl ?? mediaAsset.thumbnailUrl ?? ""
  // The text for those who do not see it is no name.
  const name = `picture ${index + 1}`
  const use = html`<input type="hidden" name="use" value="${id}" />`
  return html`<li>
    ${isShownPicture(address) && html`<img src="${address}" alt="${mediaAsset.altText ?? ""}" loading="lazy" />`}
    <span><bdi>${mediaAsset.altText ?? mediaAsset.name}</bdi><br /><small>${address}</small></span>
    <span class="actions">
      ${index > 0 && action(`${path}/pictures/first`, `Show ${name} first`, use, "quiet")}
      ${!isLast && action(`${path}/pictures/later`, `Show ${name} later`, use, "quiet")}
      ${action(`${path}/pictures/remove`, `Remove ${name}…`, use, "quiet danger", true)}
    </span>
  </li>`
}

const policies = [
  ["untracked", "Not counted"],
  ["deny", "Counted: sold while units are left"],
  ["continue", "Counted: also sold beyond zero"]
] as const

const variantFields = (form: Form, variant: Variant | undefined, isNew: boolean): Html => {
  const [option] = variant?.options ?? []
  const quantity = variant?.inventoryQuantity ?? ""
  return html`<div class="columns">
    ${
      (variant?.options.length ?? 0) <= 1 &&
      html`${form.input("value", { label: "Size", value: option?.value ?? "", isOptional: !isNew })}
      ${form.input("option", { label: "It is a", value: option?.optionName ?? "Size", isOptional: true })}`
    }
    ${form.input("price", { label: "Price", value: variant?.price ?? "", isOptional: true, placeholder: "129.00" })}
    ${form.input("sku", { label: "SKU", value: variant?.sku ?? "", isOptional: true, hint: "Your shop's number for it." })}
    ${form.select("inventoryPolicy", { label: "Stock", value: variant?.inventoryPolicy ?? "deny", choices: policies })}
    ${form.input("inventoryQuantity", {
      label: "Units",
      type: "number",
      min: -1_000_000_000,
      value: quantity,
      isOptional: true,
      ...(!isNew && { hint: "Orders count it down." })
    })}
    ${!isNew && html`<input type="hidden" name="was" value="${quantity}" />`}
  </div>`
}

const variantForm = (variant: Variant, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, `${variant.id}-`)
  const name = nameOfVariant(variant)
  const stock = variant.inventoryPolicy === "untracked" ? "not counted" : `${variant.inventoryQuantity ?? 0} left`
  const fields = variantFields(form, variant, false)
  return html`<details ${sent !== undefined && html`open`}>
    <summary><strong dir="auto">${name}</strong> · ${variant.price ?? "no price"} · ${stock}</summary>
    ${form.summary(nothing)}
    <form method="post" action="${path}/variants/${variant.id}">
      ${formId()}${fields}
      <button>Save ${name}</button>
    </form>
    ${action(`${path}/variants/${variant.id}/archive`, `Archive ${name}…`, false, "quiet danger", true)}
  </details>`
}

const newVariantForm = (path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "new-")
  const fields = variantFields(form, undefined, true)
  return html`<details ${sent !== undefined && html`open`}>
    <summary>Add a size</summary>
    ${form.summary("Nothing was added. This needs another look:")}
    <form method="post" action="${path}/variants">
      ${formId()}${fields}
      <button>Add the size</button>
    </form>
  </details>`
}

const archivedOf = (variants: ReadonlyArray<Variant>, path: string): Html =>
  html`<section class="card">
    <h2>Archived sizes</h2>
    <div class="actions">
      ${variants.map((one) => action(`${path}/variants/${one.id}/restore`, `Restore ${nameOfVariant(one)}`, false, "quiet"))}
    </div>
  </section>`
