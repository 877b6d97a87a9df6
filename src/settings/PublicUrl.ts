/** The address at which consumers reach this service. */
import { isLoopback } from "./Loopback.ts"
import type { Definition } from "./Shapes.ts"

/** The base of links that leave this service: an origin, and perhaps a path. Trailing slashes are removed. */
export function publicUrl(
  variable: string,
  options: { readonly whenAbsent: string; readonly meaning: string }
): Definition<string | undefined> {
  return {
    variable,
    unit: "URL",
    default: `none: ${options.whenAbsent}`,
    shape: "an `https:` URL without user, query and fragment; `http:` only for loopback",
    meaning: options.meaning,
    secret: true,
    fallback: undefined,
    parse: (value) => {
      const parsed = /^https?:\/\/[^\s?#@\\]+$/.test(value) ? URL.parse(value) : null
      if (parsed === null) return undefined
      const isAllowed = parsed.protocol === "https:" || isLoopback(parsed.hostname.replace(/^\[|\]$/g, ""))
      return isAllowed ? parsed.href.replace(/\/+$/, "") : undefined
    }
  }
}
