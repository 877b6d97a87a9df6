/** Copies what an experience names into test mode. A copy knows its original, so that the next rehearsal archives it. */
import { Effect } from "effect"
import { CreateProduct } from "../../api/admin/ProductApi.ts"
import { variantFields } from "../../api/admin/VariantApi.ts"
import { membersAtOnceMax } from "../../domain/consumer/Audience.ts"
import { optionsMax } from "../../domain/catalogue/Variant.ts"
import { takersMax } from "../../domain/stock/Configuration.ts"
import type { ExperienceProduct } from "../../domain/experience/ExperienceProduct.ts"
import { allOf, type Client, type RequestError } from "../Client.ts"
import { patient } from "./Clock.ts"
import { picked } from "./Fields.ts"

/** A product as an experience offers it. */
export type OfferedProduct = Pick<ExperienceProduct, "productId" | "productVariantId" | "position" | "product">

/** The copies by the ids of their originals. */
export interface Copied {
  readonly products: ReadonlyMap<string, string>
  readonly variants: ReadonlyMap<string, string>
  readonly stocks: ReadonlyMap<string, { readonly id: string; readonly takers: ReadonlyArray<Taker> }>
  readonly audiences: ReadonlyMap<string, string>
}

interface Taker {
  readonly distributionId: string
  readonly units?: number
  readonly upTo?: number
  readonly from?: number
}

/** The member of a copy's metadata that names the original. */
const mark = "rehearsalOf"

/** What an organization synchronizes from elsewhere belongs to live mode. */
const unsynchronized = [
  "defaultVariantId",
  "primarySyncSourceId",
  "metadata",
  "productMediaAssets",
  "pictures",
  "variants"
]

/** Copies products, stocks and audiences. */
export const copy = Effect.fnUntraced(function* (
  live: Client,
  client: Client,
  named: {
    readonly products: ReadonlyArray<OfferedProduct>
    readonly stockIds: ReadonlyArray<string>
    readonly audienceIds: ReadonlyArray<string>
  }
) {
  const { products, variants } = yield* copyProducts(client, named.products)
  const stocks = new Map<string, { readonly id: string; readonly takers: ReadonlyArray<Taker> }>()
  for (const id of new Set(named.stockIds)) {
    const stock = yield* live.admin((api) => api.stocks.getStock({ params: { id } }))
    const { name, returnsCancelled, lowAt, takers } = stock
    const payload = {
      name,
      returnsCancelled,
      ...(lowAt !== null && { lowAt }),
      // The units are those of the variants that the experience offers.
      variantIds: stock.variantIds.flatMap((variantId) => variants.get(variantId) ?? [])
    }
    const made = yield* client.admin((api) => api.stocks.createStock({ payload }))
    stocks.set(id, { id: made.id, takers })
  }
  const audiences = new Map<string, string>()
  for (const id of new Set(named.audienceIds)) {
    const { name } = yield* live.admin((api) => api.audiences.getAudience({ params: { id } }))
    const made = yield* client.admin((api) => api.audiences.createAudience({ payload: { name, type: "STATIC" } }))
    audiences.set(id, made.id)
  }
  const copied: Copied = { products, variants, stocks, audiences }
  return copied
})

const copyProducts = Effect.fnUntraced(function* (client: Client, offered: ReadonlyArray<OfferedProduct>) {
  const products = new Map<string, string>()
  const variants = new Map<string, string>()
  for (const { productId, product } of offered) {
    if (products.has(productId)) continue
    const payload = {
      name: product.name,
      ...picked(product, CreateProduct.fields, unsynchronized),
      metadata: { [mark]: productId },
      variants: product.variants.map((variant) => ({
        ...picked(variant, variantFields, [...unsynchronized, "options"]),
        metadata: { [mark]: variant.id },
        options: variant.options.slice(0, optionsMax).map(({ optionName, value }) => ({ option: optionName, value }))
      }))
    }
    const made = yield* client.admin((api) => api.products.createProduct({ payload }))
    products.set(productId, made.id)
    for (const { id, metadata } of made.variants) variants.set(metadata![mark] as string, id)
  }
  return { products, variants }
})

/** Gives each copied stock its takers among the mechanisms of the copy, in their order. */
export const giveTakers = (client: Client, copied: Copied, mechanismIds: ReadonlyMap<string, string>, shift: number) =>
  Effect.forEach(
    copied.stocks.values(),
    ({ id, takers }) => {
      const payload = {
        takers: takers.slice(0, takersMax).flatMap(({ distributionId, from, ...others }) => {
          const copiedId = mechanismIds.get(distributionId)
          if (copiedId === undefined) return []
          return [{ ...others, distributionId: copiedId, ...(from !== undefined && { from: from + shift }) }]
        })
      }
      return client.admin((api) => api.stocks.changeStock({ params: { id }, payload }))
    },
    { discard: true }
  )

/** Adds consumers to a copied audience. */
export const addMembers = Effect.fnUntraced(function* (
  client: Client,
  audienceId: string,
  consumerIds: ReadonlyArray<string>
) {
  for (let from = 0; from < consumerIds.length; from += membersAtOnceMax) {
    const payload = { consumerIds: consumerIds.slice(from, from + membersAtOnceMax) }
    yield* patient(client.admin((api) => api.audiences.addAudienceMembers({ params: { id: audienceId }, payload })))
  }
})

/** Archives the copies of former rehearsals of these products. One that is still offered stays. */
export const archiveFormer = Effect.fnUntraced(function* (client: Client, offered: ReadonlyArray<OfferedProduct>) {
  const names = new Map(offered.map(({ productId, product }) => [productId, product.name]))
  for (const [originalId, search] of names) {
    const found = yield* client.admin((api) => api.products.listProducts({ query: { first: 100, search } }))
    const former = found.data.filter(({ metadata }) => metadata?.[mark] === originalId)
    const variantIds = new Set(former.flatMap(({ variants }) => variants.map(({ id }) => id)))
    if (variantIds.size > 0) yield* archiveStocksOf(client, variantIds)
    for (const { id } of former) {
      yield* unlessInUse(client.admin((api) => api.products.archiveProduct({ params: { id } })))
    }
  }
})

const archiveStocksOf = Effect.fnUntraced(function* (client: Client, variantIds: ReadonlySet<string>) {
  const stocks = yield* allOf((cursor) =>
    client.admin((api) => api.stocks.listStocks({ query: { first: 100, ...cursor } }))
  )
  for (const { id } of stocks.filter((stock) => stock.variantIds.some((one) => variantIds.has(one)))) {
    yield* unlessInUse(client.admin((api) => api.stocks.archiveStock({ params: { id } })))
  }
})

const unlessInUse = <A>(effect: Effect.Effect<A, RequestError>) =>
  Effect.catchIf(
    Effect.asVoid(effect),
    ({ reason }) => reason === "409",
    () => Effect.void
  )
