/**
 * Copies a live experience into test mode: its sequences and mechanisms with their settings and times, and what they name:
 * products with their variants, stocks, audiences, and the texts of messages. Access codes are not known, so the copy has none.
 */
import { Effect } from "effect"
import { instantSettings, kindSchemas } from "../../api/admin/KindsApi.ts"
import { Settings } from "../../domain/experience/Experience.ts"
import type { CreativeDocument } from "../../domain/experience/creative/Document.ts"
import { windowOf, withoutOpening } from "../../domain/experience/ExperienceWindow.ts"
import { Settings as SequenceSettings } from "../../domain/experience/Sequence.ts"
import { fieldOf, isSingle, type Kind, kinds } from "../../domain/mechanism/Mechanism.ts"
import type { CheckedMechanism, CheckedSettings } from "../../domain/rehearsal/CheckedDrop.ts"
import { allOf, type Client } from "../Client.ts"
import { orRefused } from "../Setup.ts"
import * as Clock from "./Clock.ts"
import * as Catalogue from "./Catalogue.ts"
import { type Fields, picked } from "./Fields.ts"

/** The live experience. */
export interface Original {
  readonly name: string
  readonly record: Fields
  readonly sequences: ReadonlyArray<Fields>
  readonly products: ReadonlyArray<Catalogue.OfferedProduct>
  /** Every instant that it names. */
  readonly instants: ReadonlyArray<number>
}

/** A mechanism of the copy. */
export interface CopiedMechanism extends CheckedMechanism {
  /** The live mechanism. */
  readonly originalId: string
  /** The audience in test mode whose members may enter; undefined if everybody may. */
  readonly audienceId: string | undefined
}

/** The records of an experience's sequence, by kind. */
const recordsOf = (sequence: Fields, kind: Kind): ReadonlyArray<Fields> =>
  [sequence[fieldOf[kind]] ?? []].flat() as unknown as ReadonlyArray<Fields>

/** The mechanisms of sequences in their order, which is the same in the copy. */
const mechanismsOf = (sequences: ReadonlyArray<Fields>) =>
  sequences.flatMap((sequence) =>
    kinds.flatMap((kind) => recordsOf(sequence, kind).map((record) => ({ kind, record, sequence })))
  )

/** Reads the live experience. */
export const read = Effect.fnUntraced(function* (live: Client, id: string) {
  const record = yield* live
    .admin((api) => api.experiences.getExperience({ params: { id } }))
    .pipe(orRefused(`The live experience ${id} could not be read`))
  const sequences = record.sequences as unknown as ReadonlyArray<Fields>
  const fields = record as unknown as Fields
  const found: Original = {
    name: record.name,
    record: fields,
    sequences,
    products: record.products,
    instants: [
      picked(fields, Settings.fields),
      ...mechanismsOf(sequences).map(({ kind, record }) => picked(record, kindSchemas[kind].settings))
    ].flatMap((settings) =>
      Object.entries(settings).flatMap(([name, value]) => (instantSettings.has(name) ? [value as number] : []))
    )
  }
  return found
})

/** Creates the copy, whose times are later than the original's by so many milliseconds. */
export const create = Effect.fnUntraced(function* (live: Client, client: Client, original: Original, shift: number) {
  yield* Catalogue.archiveFormer(client, original.products)
  const copied = yield* Catalogue.copy(live, client, {
    products: original.products,
    stockIds: mechanismsOf(original.sequences).flatMap(({ record }) => (record["stockId"] as string | null) ?? []),
    audienceIds: original.sequences.flatMap(({ audienceId }) => (audienceId as string | null) ?? [])
  })
  const body = bodyOf(original, copied, shift)
  const made = yield* client.admin((api) =>
    api.experiences.createExperience({ payload: body as { readonly name: string } })
  )
  const before = mechanismsOf(original.sequences)
  const after = mechanismsOf(made.sequences)
  const ids = new Map(before.map(({ record }, index) => [record["id"] as string, after[index]!.record["id"] as string]))
  yield* Catalogue.giveTakers(client, copied, ids, shift)
  yield* copyMessages(live, client, original.record["id"] as string, made.id)
  const { openAt, closeAt } = made
  const window = windowOf({ ...(openAt !== null && { openAt }), ...(closeAt !== null && { closeAt }) }, 0)
  const mechanisms = after.map(({ kind, record, sequence }, index): CopiedMechanism => ({
    id: record["id"] as string,
    originalId: before[index]!.record["id"] as string,
    kind,
    settings: {
      ...(picked(record, record) as unknown as CheckedSettings),
      ...(window !== undefined && { experienceWindow: kind === "waitlist" ? withoutOpening(window) : window })
    },
    audienceId: (sequence["audienceId"] as string | null) ?? undefined
  }))
  return { id: made.id, mechanisms }
}, Clock.orBrokenOff("The copy could not be created"))

/** Copies the pages that messages about grants use, so that they have the texts of the brand. */
const copyMessages = Effect.fnUntraced(function* (live: Client, client: Client, originalId: string, copyId: string) {
  const query = { first: 100, experienceId: originalId, status: "PUBLISHED" } as const
  const pages = yield* allOf((cursor) =>
    live.admin((api) => api.experiencePages.listExperiencePages({ query: { ...query, ...cursor } }))
  )
  // The last one is used, so they are published in the same order.
  const sorted = pages.toSorted((a, b) => (a.lastPublishedAt ?? 0) - (b.lastPublishedAt ?? 0))
  for (const { slug, title, creativeDocument } of sorted) {
    const document = creativeDocument as CreativeDocument
    if (!document.kind.startsWith("transactional-")) continue
    const payload = { experienceId: copyId, slug, title, creativeDocument: document, status: "PUBLISHED" } as const
    yield* client.admin((api) => api.experiencePages.createExperiencePage({ payload }))
  }
})

const bodyOf = ({ record, products, sequences }: Original, copied: Catalogue.Copied, shift: number): Fields => {
  const own = picked(record, Settings.fields)
  return {
    ...shifted(own, shift),
    products: products.map(({ productId, productVariantId, position }) => ({
      productId: copied.products.get(productId),
      ...(productVariantId !== null && { productVariantId: copied.variants.get(productVariantId) }),
      position
    })),
    sequences: sequences.map((sequence) => ({
      ...renamed(picked(sequence, SequenceSettings.fields), copied),
      ...Object.fromEntries(
        kinds.flatMap((kind) => {
          const copies = recordsOf(sequence, kind).map((record) =>
            renamed(shifted(picked(record, kindSchemas[kind].CreateWithin.fields), shift), copied)
          )
          if (copies.length === 0) return []
          return [[fieldOf[kind], isSingle(kind) ? copies[0] : copies]]
        })
      )
    }))
  }
}

const shifted = (settings: Fields, shift: number): Fields =>
  Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [
      name,
      instantSettings.has(name) ? (value as number) + shift : value
    ])
  )

/** Returns the settings with the ids of the copied records. What is not offered is not copied, and left out. */
const renamed = (settings: Fields, { products, variants, stocks, audiences }: Catalogue.Copied): Fields => {
  const { sequenceProducts, variantIds, stockId, audienceId, ...others } = settings
  return {
    ...others,
    ...(Array.isArray(sequenceProducts) && {
      sequenceProducts: sequenceProducts.flatMap((one) => {
        const productId = products.get(one.productId)
        return productId === undefined ? [] : [{ ...one, productId }]
      })
    }),
    ...(Array.isArray(variantIds) && { variantIds: variantIds.flatMap((id) => variants.get(id) ?? []) }),
    ...(typeof stockId === "string" && { stockId: stocks.get(stockId)!.id }),
    ...(typeof audienceId === "string" && { audienceId: audiences.get(audienceId) })
  }
}
