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

/**
 * Reads changes as `NAME=VALUE`; an empty value removes the setting. Each configuration of the journal must be valid with
 * them. Fails with the problem in words.
 */
export const parseChanges = (
  kind: Kind,
  texts: ReadonlyArray<string>,
  configurations: ReadonlyArray<AnyConfiguration>
): Result.Result<Changes, string> => {
  const changes = new Map<string, unknown>()
  for (const text of texts) {
    const [name, value] = split(text)
    if (value === undefined || !changeable(kind).includes(name)) return Result.fail(unknownSetting(kind, name))
    const parsed = valueOf(kind, name, value, configurations[0]!)
    if (Result.isFailure(parsed)) return Result.fail(`${text}: ${parsed.failure}`)
    changes.set(name, parsed.success)
  }
  const { problems } = declarations[kind] as unknown as Pick<KindDeclaration<AnyConfiguration>, "problems">
  for (const configuration of configurations) {
    const [problem] = problems(withChanges(configuration, changes), configuration)
    if (problem !== undefined) return Result.fail(problem.message)
  }
  return Result.succeed(changes)
}

const split = (text: string): readonly [name: string, value: string | undefined] => {
  const at = text.indexOf("=")
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

const unknownSetting = (kind: Kind, name: string): string => {
  const reason = fixed.has(name)
    ? "the journal does not say what people would have done otherwise"
    : `${declarations[kind].aNoun} has no such setting`
  return `${name}: ${reason}. Settings that can be changed, as NAME=VALUE: ${changeable(kind).join(", ")}`
}

/** A value is JSON, such as a number; or else text, such as a price or an instant. */
const valueOf = (
  kind: Kind,
  name: string,
  text: string,
  configuration: AnyConfiguration
): Result.Result<unknown, string> => {
  const codec = (deciders[kind] as AnyDecider).configuration as Schema.Codec<AnyConfiguration, AnyConfiguration>
  const encoded = Schema.encodeSync(codec)(configuration)
  const decode = (value: unknown) =>
    Result.map(
      Schema.decodeUnknownResult(codec)(withChanges(encoded, new Map([[name, value]]))),
      (decoded) => decoded[name]
    )
  const candidates = text === "" ? [undefined] : [...jsonOf(text), text]
  const results = candidates.map(decode)
  const found = results.find(Result.isSuccess) ?? results[0]!
  return Result.mapError(found, ({ message }) => message.split("\n")[0]!)
}

const jsonOf = (text: string): ReadonlyArray<unknown> => {
  const parsed = Result.try(() => JSON.parse(text) as unknown)
  return Result.isSuccess(parsed) ? [parsed.success] : []
}
