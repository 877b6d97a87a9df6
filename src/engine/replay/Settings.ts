/** The settings that a replay can change, and the check of their values, which is that of the Admin API. */
import { Result, Schema } from "effect"
import { declarations, deciders, type Kind } from "../../domain/mechanism/Mechanism.ts"
import type { KindDeclaration } from "../../domain/mechanism/Declaration.ts"
import type { AnyDecider } from "../actor/Batch.ts"

/** Values of settings by name. Undefined: the setting is absent. */
export type Changes = ReadonlyMap<string, unknown>

/** A configuration of any kind. */
export type AnyConfiguration = { readonly [setting: string]: unknown }

/**
 * The settings whose change says nothing: names, and settings that decide who comes, or when. The journal does not have
 * who would have come otherwise.
 */
const fixed: ReadonlySet<string> = new Set([
  "name",
  "timeZone",
  "experienceWindow",
  "locationId",
  "variantIds",
  "stockId",
  "currencyCode",
  "auctionType",
  "openAt",
  "lobbyOpenAt",
  "supportsGuest",
  "loyaltyBiasEnabled",
  "beacon",
  "hours",
  "slotsFrom",
  "slotsUntil",
  "slotDurationMinutes",
  "bufferMinutes"
])

/** Returns the settings of a kind that can be changed. */
export const changeable = (kind: Kind): ReadonlyArray<string> => {
  const { fields } = deciders[kind].configuration as unknown as { readonly fields: object }
  return Object.keys(fields).filter((setting) => !fixed.has(setting))
}

/** Returns the configuration with the changes. */
export const withChanges = (configuration: AnyConfiguration, changes: Changes): AnyConfiguration => {
  const changed = Object.entries({ ...configuration, ...Object.fromEntries(changes) })
  return Object.fromEntries(changed.filter(([, value]) => value !== undefined))
}

/** A setting with another value. */
export interface Change {
  readonly name: string
  /** The value as the Admin API takes it, or several readings of it, of which the first valid one counts. */
  readonly readings: readonly [unknown, ...Array<unknown>]
}

/** Why a change cannot be made. */
export interface ChangeProblem {
  readonly name: string
  readonly message: string
}

/** Reads a change as `NAME=VALUE`. A value is JSON, such as a number, or else text. An empty one removes the setting. */
export const changeOfText = (text: string): Change => {
  const at = text.indexOf("=")
  const value = text.slice(at + 1)
  if (at < 0) return { name: text, readings: [noValue] }
  return { name: text.slice(0, at), readings: value === "" ? [undefined] : ([...jsonOf(value), value] as [unknown]) }
}

/** A text without a sign. No setting takes it. */
const noValue = Symbol("no value")

/** Checks the changes. Each configuration of the journal must be valid with them. */
export const checkChanges = (
  kind: Kind,
  asked: ReadonlyArray<Change>,
  configurations: ReadonlyArray<AnyConfiguration>
): Result.Result<Changes, ChangeProblem> => {
  const changes = new Map<string, unknown>()
  for (const { name, readings } of asked) {
    if (readings[0] === noValue) return Result.fail({ name, message: "needs a value, as NAME=VALUE" })
    if (!changeable(kind).includes(name)) return Result.fail({ name, message: unknownSetting(kind, name) })
    const value = valueOf(kind, name, readings, configurations[0]!)
    if (Result.isFailure(value)) return Result.fail({ name, message: value.failure })
    changes.set(name, value.success)
  }
  const { problems } = declarations[kind] as unknown as Pick<KindDeclaration<AnyConfiguration>, "problems">
  for (const configuration of configurations) {
    const [problem] = problems(withChanges(configuration, changes), configuration)
    if (problem !== undefined) return Result.fail({ name: problem.field, message: problem.message })
  }
  return Result.succeed(changes)
}

const unknownSetting = (kind: Kind, name: string): string => {
  const reason = fixed.has(name)
    ? "the journal does not say what people would have done otherwise"
    : `${declarations[kind].aNoun} has no such setting`
  return `${reason}. Settings that can be changed: ${changeable(kind).join(", ")}`
}

const valueOf = (
  kind: Kind,
  name: string,
  readings: Change["readings"],
  configuration: AnyConfiguration
): Result.Result<unknown, string> => {
  const codec = (deciders[kind] as AnyDecider).configuration as Schema.Codec<AnyConfiguration, AnyConfiguration>
  const encoded = Schema.encodeSync(codec)(configuration)
  const decode = (value: unknown) =>
    Result.map(
      Schema.decodeUnknownResult(codec)(withChanges(encoded, new Map([[name, value]]))),
      (decoded) => decoded[name]
    )
  const results = readings.map(decode)
  const found = results.find(Result.isSuccess) ?? results[0]!
  return Result.mapError(found, ({ message }) => message.split("\n")[0]!)
}

const jsonOf = (text: string): ReadonlyArray<unknown> => {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) ? [parsed.success] : []
}
