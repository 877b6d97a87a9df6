/**
 * Catalogue records for tests of the Admin API. Options and the products of an experience are written as table rows.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Admin, anExperience, type Organization } from "../adminFixture.ts"

/** An identifier that no record has. */
export const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** Creates a record at the path from the body, and returns it. */
const posted = Effect.fnUntraced(function* (path: string, body: object, as?: Organization) {
  const { call } = yield* Admin
  const answer = yield* call("POST", path, body, as)
  if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

export const aProduct = (body: object = {}, as?: Organization) => posted("/products", { name: "Sneaker", ...body }, as)

export const aVariant = (body: { readonly productId: string; readonly [name: string]: unknown }, as?: Organization) =>
  posted("/variants", body, as)

export const aMediaAsset = (body: object = {}, as?: Organization) =>
  posted("/media-assets", { name: "Side view", ...body }, as)

export const aSyncSource = (body: object = {}, as?: Organization) =>
  posted("/sync-sources", { syncSource: "shopify", syncSourceId: "brand.example", ...body }, as)

const row = ({ tenant: { organizationId, mode } }: Organization) => ({
  id: randomUUID(),
  organization_id: organizationId,
  mode,
  record: "{}",
  created_at: new Date(),
  created_by: "test",
  updated_at: new Date(),
  updated_by: "test"
})

/** Creates an option, for example size, with these values. Returns its id and theirs. */
export const anOption = Effect.fnUntraced(function* (name: string, values: ReadonlyArray<string>, as?: Organization) {
  const sql = yield* SqlClient.SqlClient
  const { brand } = yield* Admin
  const option = { ...row(as ?? brand), name }
  yield* sql`insert into variant_options ${sql.insert(option)}`
  const valueIds: Array<string> = []
  for (const [index, value] of values.entries()) {
    const own = { ...row(as ?? brand), option_id: option.id, value, is_centrally_managed: true, sort_order: index }
    yield* sql`insert into variant_option_values ${sql.insert(own)}`
    valueIds.push(own.id)
  }
  return { optionId: option.id, valueIds }
}, Effect.orDie)

/** Creates an experience that offers the product, or the given variant of it. */
export const anOffer = Effect.fnUntraced(function* (productId: string, variantId: string | null = null) {
  const sql = yield* SqlClient.SqlClient
  const { brand } = yield* Admin
  const { id } = yield* anExperience()
  const { organizationId } = brand.tenant
  yield* Effect.orDie(sql`
    insert into experience_products (id, organization_id, experience_id, product_id, product_variant_id, position)
    values (${randomUUID()}, ${organizationId}, ${id}, ${productId}, ${variantId}, 0)`)
  return id
})

/** Returns the name, or another field, of each item of a list. */
export const listed = (path: string, field = "name", as?: Organization) =>
  Effect.gen(function* () {
    const { call } = yield* Admin
    const { body } = yield* call("GET", path, undefined, as)
    return body.data.map((record: { readonly [field: string]: unknown }) => record[field])
  })

/** Sends GET, PUT and DELETE for a record that the caller cannot see. Returns status and error of each answer. */
export const notFoundAt = Effect.fnUntraced(function* (path: string, change: object, as?: Organization) {
  const { call } = yield* Admin
  const answers: Array<ReadonlyArray<unknown>> = []
  for (const [method, body] of [["GET"], ["PUT", change], ["DELETE"]] as const) {
    const answer = yield* call(method, path, body, as)
    answers.push([answer.status, answer.body.error])
  }
  return answers
})
