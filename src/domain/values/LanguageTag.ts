/** Tags of languages (BCP 47), as browsers, operating systems and people write them. */
import { Result } from "effect"

/** Subtags between hyphens or underscores, and what an operating system adds: `de_DE.UTF-8`, `de_DE@euro`. */
const tagPattern = /^([A-Za-z]{2,8}(?:[-_][A-Za-z0-9]{1,8}){0,8})(?:[.@].{0,20})?$/

/**
 * Returns the tag in its present form: `iw` is `he`, `in-ID` is `id-ID`, `cmn_Hans_CN` is `zh-Hans-CN`. Undefined if the
 * text is no tag.
 */
export const canonicalTag = (text: string): string | undefined => {
  const tag = tagPattern.exec(text.trim())?.[1]?.replaceAll("_", "-")
  if (tag === undefined) return undefined
  return Result.getOrUndefined(Result.try(() => Intl.getCanonicalLocales(tag)[0]))
}
