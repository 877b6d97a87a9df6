/** The address at which consumers reach this service. */
import { isLoopback } from "./Loopback.ts"
import { absent, type Absent, type Definition } from "./Shapes.ts"

/** The base of links that leave this service: an origin, and perhaps a path. Trailing slashes are removed. */
export function publicUrl(variable: string, options: Absent): Definition<string | undefined> {
  const shape = "an `https:` URL without user, query and fragment; `http:` only for loopback"
  return {
    ...absent(variable, "URL", shape, options),
    secret: true,
    fallback: undefined,
    parse: (value) => {
      const parsed = /^https?:\/\/[^\s?#@\\]+$/.test(value) ? URL.parse(value) : null
      if (parsed === null) return undefined
      const isAllowed = parsed.protocol === "https:" || isLoopback(parsed.hostname.replace(/^\[|\]$/g, ""))
      return isAllowed ? parsed.href.replace(/(?<!\/)\/+$/, "") : undefined
    }
  }
}
