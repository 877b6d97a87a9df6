/**
 * The bodies that create and change experiences. The functions here return the settings of a body, or every issue of
 * the body with its path.
 */
import { Result, Schema } from "effect"
import { isWindowEmpty, Settings } from "../../../domain/experience/Experience.ts"
import { type Offer, offersOf } from "../../../domain/experience/ExperienceProduct.ts"
import { isWhole } from "../../../domain/values/Amount.ts"
import { fractionDigitsOf, type RegionalDefaults } from "../../../domain/values/Locale.ts"
import { type KnownProducts, type NamedProducts, notOffered } from "../../../store/experience/ExperienceProducts.ts"
import type {
  Change,
  KnownRecords,
  NamedRecords,
  NewExperience
} from "../../../store/experience/ExperienceAggregates.ts"
import type { Issue, ValidationError } from "../../../api/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { problemIssues } from "../records/Answers.ts"
import { ChangeExperience, CreateExperience } from "../../../api/admin/ExperienceApi.ts"
import { productDraft } from "../catalogue/Products.ts"
import { withChanges } from "../records/Settings.ts"
import { namedIn as namedInSequence, type NewSequence, sequenceIn } from "./SequenceBodies.ts"

type CreateBody = typeof CreateExperience.Type
type ChangeBody = typeof ChangeExperience.Type

/** An experience that is to be created with its sequences and mechanisms. */
export interface NewAggregate extends NewExperience {
  readonly sequences: ReadonlyArray<NewSequence>
}

export const namedIn = (body: CreateBody): NamedRecords => {
  const sequences = body.sequences ?? []
  const named = [namedProducts(body), ...sequences.map(namedInSequence)]
  return {
    productIds: [...new Set(named.flatMap(({ productIds }) => productIds))],
    variantIds: [...new Set(named.flatMap(({ variantIds }) => variantIds))],
    audienceIds: [...new Set(sequences.flatMap(({ audienceId }) => audienceId ?? []))],
    newProducts: (body.newProducts ?? []).map(productDraft)
  }
}

/** The records of the catalogue that a body names as the experience's products. */
export const namedProducts = ({ products }: Pick<CreateBody, "products">): NamedProducts => ({
  productIds: [...new Set((products ?? []).map(({ productId }) => productId))],
  variantIds: [...new Set((products ?? []).flatMap(({ productVariantId }) => productVariantId ?? []))]
})

/** The experience that a body creates, given which of the records it names exist. */
export const newAggregate = (
  body: CreateBody,
  defaults: RegionalDefaults,
  known: KnownRecords
): Result.Result<NewAggregate, ValidationError> => {
  const { settings, issues } = revised(defaults, body, defaults)
  const input = () => encodeCreation(body)
  const named = body.products ?? []
  const offers = offersOf([...named, ...known.created.map((productId) => ({ productId }))])
  const pathOf = (index: number) => (index < named.length ? ["products", index] : ["newProducts", index - named.length])
  issues.push(...productIssues(offers, known, settings.currencyCode, input, pathOf))
  const around = {
    surroundings: settings,
    products: known.products,
    // Without named products, consumers may select any variant.
    notOffered: (variantIds: ReadonlyArray<string>) =>
      offers.length === 0 ? new Set<string>() : notOffered(offers, variantIds, known.variants)
  }
  const sequences = (body.sequences ?? []).map((sequence, index) => {
    const at = ["sequences", index]
    if (typeof sequence.audienceId === "string" && !known.audiences.has(sequence.audienceId)) {
      issues.push(issueAt(input(), [...at, "audienceId"], { ...unknown, expected: "an audience" }))
    }
    const made = sequenceIn(sequence, { input, at }, around)
    issues.push(...made.issues)
    return made.sequence
  })
  return issues.length > 0
    ? Result.fail(invalidInput(issues.slice(0, issuesMax)))
    : Result.succeed({ settings, accessCode: body.accessCode ?? null, offers, sequences })
}

/** The experience that a body changes another one to. */
export const changed = (
  before: Settings,
  body: ChangeBody,
  defaults: RegionalDefaults,
  known: KnownProducts
): Result.Result<Change, ValidationError> => {
  const { settings, issues } = revised(before, body, defaults)
  const offers = body.products === undefined ? undefined : offersOf(body.products ?? [])
  issues.push(...productIssues(offers ?? [], known, settings.currencyCode, () => encodeChange(body)))
  return issues.length > 0
    ? Result.fail(invalidInput(issues.slice(0, issuesMax)))
    : Result.succeed({ settings, offers })
}

/** The settings with the changes made, and the issues between them. */
const revised = (settings: Partial<Settings>, changes: CreateBody | ChangeBody, defaults: RegionalDefaults) => {
  // Every required setting is in the body of a creation, in the defaults, or stored already.
  const next = withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings
  const problems = isWindowEmpty(next) ? [{ field: "closeAt", message: "closeAt must be after openAt" }] : []
  return { settings: next, issues: [...problemIssues(problems, next)] }
}

const unknown = { kind: "validation", type: "picklist" } as const

/**
 * An issue for each product that the tenant does not have, that the body names twice, or that has a price which nobody
 * can pay in the currency.
 */
const productIssues = (
  offers: ReadonlyArray<Offer>,
  known: KnownProducts,
  currencyCode: string,
  input: () => Input,
  pathOf = (index: number): ReadonlyArray<string | number> => ["products", index]
): ReadonlyArray<Issue> => {
  const seen = new Set<string>()
  const fractional = known.prices.filter(({ price }) => !isWhole(price, fractionDigitsOf(currencyCode)))
  return offers.flatMap(({ productId, productVariantId }, index) => {
    const problem = (field: string, expected: string) => [
      issueAt(input(), [...pathOf(index), field], { ...unknown, expected })
    ]
    if (!known.products.has(productId)) return problem("productId", "a product")
    if (productVariantId !== null && known.variants.get(productVariantId) !== productId) {
      return problem("productVariantId", "a variant of the product")
    }
    const offer = `${productId} ${productVariantId}`
    if (seen.has(offer)) return problem("productId", "a product that is not named twice")
    seen.add(offer)
    const isFractional = fractional.some(
      (one) => one.productId === productId && one.variantId === (productVariantId ?? one.variantId)
    )
    const isNew = pathOf(index)[0] === "newProducts"
    return isFractional
      ? problem(isNew ? "variants" : "productId", `a product with prices in whole minor units of ${currencyCode}`)
      : []
  })
}

type Input = { readonly [name: string]: unknown }

/** The bodies as they were sent, without unknown fields. */
const encodeCreation = Schema.encodeSync(CreateExperience) as (body: CreateBody) => Input
const encodeChange: (body: ChangeBody) => Input = Schema.encodeSync(ChangeExperience)
