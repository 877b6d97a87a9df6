/** An uploaded font. Usher serves it itself, so that a room asks no other host for one. */
import { Schema } from "effect"
import { Id, isUuid } from "../values/Ids.ts"
import { Timestamp } from "../values/Time.ts"

/** Bytes of an uploaded font. A visitor waits for it. */
export const fontBytesMax = 300_000

/** Bytes of the font that a browser makes of the file, as the file itself says. */
export const fontUnpackedBytesMax = 5_000_000

/** Fonts of an organization in live or in test mode. */
export const fontsMax = 50

/** The one type of fonts. */
export const fontType = "font/woff2"

/** The route at which fonts are served. */
export const fontRoute = "/fonts/:id"

const fontsPath = "/fonts/"

/** Returns the address of a font, without the host. */
export const fontPath = (id: string): string => `${fontsPath}${id}`

/** True for the address of an uploaded font, without a host. */
export const isFontPath = (address: string): boolean =>
  address.startsWith(fontsPath) && isUuid(address.slice(fontsPath.length))

/** The address of an uploaded font. No other host is asked for one. */
export const FontUrl = Schema.String.check(
  Schema.makeFilter(isFontPath, {
    expected: "the address of an uploaded font",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ pattern: `^${fontsPath}` })
  })
)

/** Why a file is no font that rooms take. */
export type FontProblem = "EMPTY" | "TOO_LARGE" | "UNKNOWN_TYPE" | "DAMAGED"

/** Bytes of the header of a WOFF2 file. */
const headerBytes = 48

/** Tables of a font. Real ones have some twenty. */
const tablesMax = 64

/** The kinds of fonts in a WOFF2 file: TrueType in two spellings, and CFF. A collection of fonts is none of them. */
const flavors = new Set([0x00010000, 0x74727565, 0x4f54544f])

/**
 * Returns what is wrong with a file, undefined for a font. It reads the header: that of a WOFF2 file, of one font, as long
 * as the header says. The tables are for browsers, which check them before they use them.
 */
export const fontProblem = (bytes: Uint8Array): FontProblem | undefined => {
  if (bytes.length === 0) return "EMPTY"
  if (bytes.length > fontBytesMax) return "TOO_LARGE"
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (bytes.length < 4 || view.getUint32(0) !== 0x774f4632) return "UNKNOWN_TYPE"
  if (bytes.length <= headerBytes) return "DAMAGED"
  const [flavor, length, tables, reserved] = [
    view.getUint32(4),
    view.getUint32(8),
    view.getUint16(12),
    view.getUint16(14)
  ]
  const [unpacked, packed] = [view.getUint32(16), view.getUint32(20)]
  if (!flavors.has(flavor)) return "UNKNOWN_TYPE"
  if (unpacked > fontUnpackedBytesMax) return "TOO_LARGE"
  const isWhole = length === bytes.length && packed > 0 && packed <= bytes.length - headerBytes
  return isWhole && reserved === 0 && tables > 0 && tables <= tablesMax ? undefined : "DAMAGED"
}

/** The font in responses. */
export const Font = Schema.Struct({
  id: Id,
  url: Schema.String.annotate({
    description: "The address on the Consumer API's host, without the host. Looks take it as it is.",
    examples: [fontPath("0190a6e0-5c7e-7a10-8d7e-6f2f3b1c4d5e")]
  }),
  contentType: Schema.Literal(fontType),
  bytes: Schema.Int,
  createdAt: Timestamp,
  createdBy: Schema.String
}).annotate({ identifier: "Font" })
export type Font = typeof Font.Type

/** How the list of fonts can be sorted. The first is the default. */
export const fontSorts = ["createdAt"] as const
