/** The copy of an experience. It has every setting of the original, with times of its own, and none of the events. */
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import type { Settings } from "../../../domain/experience/Experience.ts"
import { withWindow } from "../../../domain/experience/ExperienceWindow.ts"
import { type Sequence, Settings as SequenceSettings } from "../../../domain/experience/Sequence.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import type { KnownRecords, NamedRecords, ExperienceAggregate } from "../../../store/experience/ExperienceAggregates.ts"
import type { ValidationError } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { type DuplicateExperience, sequencesMax } from "../../../api/admin/ExperienceApi.ts"
import type { NewAggregate } from "../experience/ExperienceBodies.ts"
import { revising } from "../records/Settings.ts"
import { productsNamed } from "../experience/SequenceBodies.ts"
import { instantSettings } from "../../../api/admin/KindsApi.ts"
import { mechanismsMax } from "../../../api/admin/SequenceApi.ts"
import { configurationOf } from "../experience/AggregateRecords.ts"

/** The last instant that a timestamp can express. */
const latest: Millis = 253_402_300_799_999

const sequenceSettings = revising<SequenceSettings>(SequenceSettings.fields)

/** True if one request could not create the copy. */
export const isTooLarge = ({ sequences }: ExperienceAggregate): boolean =>
  sequences.length > sequencesMax ||
  sequences.reduce((count, { mechanisms }) => count + mechanisms.length, 0) > mechanismsMax

/** The records of the catalogue and the audiences that the original names. */
export const namedBy = ({ products, sequences }: ExperienceAggregate): NamedRecords => ({
  productIds: [
    ...new Set([
      ...products.map(({ productId }) => productId),
      ...sequences.flatMap(({ sequence }) => productsNamed(sequence))
    ])
  ],
  variantIds: [...new Set(products.flatMap(({ productVariantId }) => productVariantId ?? []))],
  audienceIds: [...new Set(sequences.flatMap(({ sequence }) => sequence.audienceId ?? []))],
  newProducts: []
})

/** The copy, or an issue for each time that is not in the future. */
export const copyOf = (
  original: ExperienceAggregate,
  own: Settings,
  { name, shiftSeconds }: Partial<typeof DuplicateExperience.Type>,
  now: Millis,
  known: KnownRecords
): Result.Result<NewAggregate, ValidationError> => {
  const shift = (shiftSeconds ?? 0) * 1000
  const times: Array<Millis> = []
  const shifted = <A extends object>(settings: A): A =>
    Object.fromEntries(
      Object.entries(settings).map(([field, value]) => {
        if (!instantSettings.has(field)) return [field, value]
        times.push(value)
        return [field, value + shift]
      })
    ) as A
  const copy: NewAggregate = {
    settings: { ...shifted(own), name: name ?? copied(own.name) },
    accessCode: lost(original.experience.hasAccessCode),
    offers: original.products.filter(
      ({ productId, productVariantId }) =>
        known.products.has(productId) && (productVariantId === null || known.variants.has(productVariantId))
    ),
    sequences: original.sequences.map(({ sequence, mechanisms }) => ({
      settings: sequenceSettings({}, withoutArchived(sequence, known)),
      accessCode: lost(sequence.hasAccessCode),
      mechanisms: withOneWaitlist(mechanisms).flatMap((mechanism) => {
        const { kind } = mechanism.identity
        const configuration = withoutStock(configurationOf(mechanism, kind))
        return [{ kind, configuration: shifted(withWindow(configuration, undefined)) }]
      })
    }))
  }
  const least = Math.floor((now - Math.min(...times)) / 1000) + 1
  const most = Math.floor((latest - Math.max(...times)) / 1000)
  const sent = shiftSeconds ?? 0
  const refused = (type: string, expected: string) =>
    Result.fail(invalidInput([issueAt({ shiftSeconds: sent }, "shiftSeconds", { kind: "validation", type, expected })]))
  if (sent < least) return refused("min_value", `>=${least}, or a time of the copy would have passed`)
  return sent > most ? refused("max_value", `<=${most}`) : Result.succeed(copy)
}

/** The settings without the stock, whose units are for the original. */
const withoutStock = <A extends object>(configuration: A): A => {
  const { stockId: _, ...others } = configuration as A & { readonly stockId?: string }
  return others as unknown as A
}

/** The mechanisms with the oldest waitlist only. Former versions allowed a sequence several. */
const withOneWaitlist = (mechanisms: ReadonlyArray<StoredMechanism>): ReadonlyArray<StoredMechanism> => {
  const waitlist = mechanisms.find(({ identity }) => identity.kind === "waitlist")
  return mechanisms.filter((mechanism) => mechanism.identity.kind !== "waitlist" || mechanism === waitlist)
}

/** The sequence without its archived products. */
const withoutArchived = (sequence: Sequence, { products }: KnownRecords): Sequence => ({
  ...sequence,
  sequenceProducts: sequence.sequenceProducts.filter(({ productId }) => products.has(productId))
})

/** The name of a copy if the request gives none. */
const copied = (name: string): string => `${name.slice(0, 193).replace(/[\uD800-\uDBFF]$/, "")} (copy)`

/** A random access code. It replaces one that is stored as a hash only. */
const lost = (hasAccessCode: boolean): string | null => (hasAccessCode ? randomBytes(32).toString("hex") : null)
