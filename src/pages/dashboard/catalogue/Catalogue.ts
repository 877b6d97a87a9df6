/** The catalogue: the products that drops offer, a new one, and one product with its pictures, sizes and stock. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { isolated } from "../../../domain/values/Direction.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { Form, problemsOf, type Sent } from "../form/Form.ts"
import { makeUpload } from "../form/Upload.ts"
import type { Refusal } from "../../Refusal.ts"
import { formId } from "../FormId.ts"
import { newProductFieldAt, newProductFields, newProductIn, pictureField } from "../newDrop/ProductPart.ts"
import { linkButton } from "../Parts.ts"
import { get, postFiles, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { filters, listQueryOf, pager, search, table } from "../Table.ts"
import * as Pictures from "./Pictures.ts"
import { makeChanges, path } from "./ProductChanges.ts"
import { makeProductScreen } from "./ProductScreen.ts"

type Api = AdminApiClient["Service"]
export type Product = AdminAnswer<"products", "getProduct">

/** The routes of the catalogue. */
export const make = (api: Api): ReadonlyArray<Route> => {
  const show = makeProductScreen(api)
  return [
    get("/catalogue", makeList(api)),
    { ...get("/catalogue/new", () => Effect.succeed(newScreen())), role: "operator" },
    postFiles("/catalogue/new", "operator", makeCreate(api)),
    ...Pictures.make(api),
    get("/catalogue/:id", (operator, { params }) => show(operator, params["id"]!)),
    ...makeChanges(api, show)
  ]
}

const makeList = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, { query }: RouteRequest) {
    const page = yield* api.run(operator, "products", "listProducts", {
      query: { sortDir: "desc", ...listQueryOf(query, ["search"]) }
    })
    const mayCreate = mayDo(operator.role, "operator")
    return {
      title: "Catalogue",
      links: mayCreate && linkButton(`${path}/new`, "New product", "primary"),
      body: html`
        ${filters(path, search("Name or handle", query))}
        ${table<Product>(
          "Products, newest first",
          page.data,
          [
            { title: "Product", cell: ({ id, name }) => html`<a href="${path}/${id}">${name}</a>` },
            { title: "Sizes", cell: ({ variants }) => sizesOf(variants) },
            { title: "Price", cell: pricesOf },
            { title: "In stock", cell: stockOf },
            { title: "Pictures", cell: ({ productMediaAssets }) => productMediaAssets.length }
          ],
          query.has("search")
            ? html`No product has this name. <a href="${path}">Show all</a>`
            : html`No product yet.
              ${
                mayCreate
                  ? html`<a href="${path}/new">Add the first one</a>, or type it in with a
                      <a href="/dashboard/new">new drop</a>.`
                  : "An operator can add one."
              }`
        )}
        ${pager(page, path, query)}
        <p><a href="${path}/pictures">Uploaded pictures</a> · <a href="/dashboard/archive">Archived products</a></p>
      `
    }
  })

const sizesOf = (variants: Product["variants"]): string =>
  variants.map(({ options, sku }) => options.map(({ value }) => value).join(" / ") || sku || "–").join(", ") || "–"

const pricesOf = ({ variants }: Product): string =>
  [...new Set(variants.flatMap(({ price }) => price ?? []))].join(", ") || "–"

/** The units of the variants that are counted. */
const stockOf = ({ variants }: Product): string | number => {
  const counted = variants.filter(({ inventoryPolicy }) => inventoryPolicy !== "untracked")
  return counted.length === 0 ? "not counted" : counted.reduce((sum, one) => sum + (one.inventoryQuantity ?? 0), 0)
}

const newScreen = (sent?: Sent) => {
  const form = new Form(sent)
  const fields = newProductFields(form, sent?.fields, true)
  return {
    title: "New product",
    status: sent?.problems === undefined ? 200 : 400,
    body: html`
      ${form.summary("Nothing was created yet. This needs another look:")}
      <form method="post" action="${path}/new" enctype="multipart/form-data" class="card">
        ${formId()}
        <button class="unseen" tabindex="-1" aria-hidden="true">Add the product</button>
        ${fields}
        <p></p>
        <button>Add the product</button>
        <a class="button quiet" href="${path}">Cancel</a>
      </form>
    `
  }
}

const makeCreate = (api: Api) => {
  const upload = makeUpload(api)
  return Effect.fnUntraced(function* (
    operator: Operator,
    sent: RouteRequest
  ): Effect.fn.Return<Reply, Refusal, HttpServerRequest.HttpServerRequest> {
    const { fields } = sent
    const problems = yield* upload(operator, sent, [pictureField])
    if (fields.get("do") === "more") return newScreen({ fields })
    if (problems.size > 0) return newScreen({ fields, problems })
    const { product, rows } = newProductIn(fields, "")
    return yield* api.run(operator, "products", "createProduct", { payload: product }).pipe(
      Effect.map(({ id, name }): Reply => ({
        goTo: `${path}/${id}`,
        done: `${isolated(name, "")} is in the catalogue.`
      })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? Effect.succeed(newScreen({ fields, problems: problemsOf(refusal, (at) => newProductFieldAt(at, rows)) }))
          : Effect.fail(refusal)
      )
    )
  })
}
