/** Inputs of the operations on products, variants, media assets and sync sources. */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import type { MakeInput } from "../inputs.ts"
import { byServer, type Side } from "../world.ts"

const syncSource = { syncSource: "shopify", syncSourceId: "brand.example" }

const make = (path: string, body: object) => (side: Side) =>
  Effect.map(byServer("admin", side, path, body), ({ id }) => id as string)

const aProduct = make("/products", { name: "Sneaker" })
const aVariant = (side: Side) => Effect.flatMap(aProduct(side), (productId) => make("/variants", { productId })(side))

/** Creates a record in each tenant. Returns the name of the own one. */
const named = Effect.fnUntraced(function* (
  made: (side: Side) => ReturnType<typeof aProduct>,
  own: Side,
  { sides }: Parameters<MakeInput>[1]
) {
  return { own: yield* made(own), others: [yield* made(sides.test), yield* made(sides.foreign)], unknown: randomUUID() }
})

/** The operations on records of a kind, given how a record is created and the bodies that create and change one. */
const operationsOn = (
  path: string,
  made: (side: Side) => ReturnType<typeof aProduct>,
  bodies: { readonly create: object; readonly change: object }
): { readonly [operation: string]: MakeInput } => {
  const one =
    (body?: object): MakeInput =>
    (own, world) =>
      Effect.map(named(made, own, world), (record) => ({
        params: { id: record.own },
        names: [record],
        status: 200,
        ...(body && { body })
      }))
  return {
    [`POST /api/${path}`]: () => Effect.succeed({ body: bodies.create, status: 201 }),
    [`GET /api/${path}`]: (own) => Effect.map(made(own), (id) => ({ status: 200, secrets: [id] })),
    [`GET /api/${path}/:id`]: one(),
    [`PUT /api/${path}/:id`]: one(bodies.change),
    [`DELETE /api/${path}/:id`]: one(),
    [`POST /api/${path}/:id/restore`]: one()
  }
}

/** The inputs, by operation. */
export const catalogueInputs: { readonly [operation: string]: MakeInput } = {
  ...operationsOn("products", aProduct, { create: { name: "Sneaker", variants: [{}] }, change: { name: "Boot" } }),
  ...operationsOn("variants", aVariant, { create: {}, change: { sku: "SNK" } }),
  "POST /api/variants": (own, world) =>
    Effect.map(named(aProduct, own, world), (product) => ({
      body: { productId: product.own },
      names: [product],
      status: 201
    })),
  "GET /api/variants": (own, world) =>
    Effect.map(named(aProduct, own, world), (product) => ({
      query: `productId=${product.own}`,
      names: [product],
      status: 200,
      strangerStatus: 200
    })),
  ...operationsOn("media-assets", make("/media-assets", { name: "Side" }), {
    create: { name: "Side" },
    change: { name: "Front" }
  }),
  ...operationsOn("sync-sources", make("/sync-sources", syncSource), { create: syncSource, change: {} })
}
