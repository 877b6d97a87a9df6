/**
 * Turns an uploaded file into a picture that is safe to serve: decoded, and encoded again as WebP. The first bytes tell
 * what a file is, not its name. Orientation is applied, and nothing of the file's metadata is kept.
 *
 * A decoder runs outside the main thread, but in the pool of threads that the process has for all such work, and it
 * takes up to some 300 MB. So one file is decoded at a time, and few wait.
 */
import { Context, Effect, Layer, Schema } from "effect"
import type { Metadata, Sharp, SharpOptions } from "sharp"
import { avifPixelsMax, pictureBytesMax, picturePixelsMax } from "../../../domain/catalogue/Picture.ts"
import * as ConcurrencyLimit from "../../../store/postgres/ConcurrencyLimit.ts"
import type { Unavailable } from "../../../store/postgres/Unavailable.ts"

/** Files that wait or are being decoded in one process. */
export const uploadsWaitingMax = 16

/** Seconds after which a decoder is stopped. It looks at the clock after each strip of the picture. */
const decodingSeconds = 10

/** Pixels of a side. A larger picture is made smaller. */
const sideMax = 2_400

const quality = 82

export const refusedReasons = [
  "EMPTY",
  "TOO_LARGE",
  "UNKNOWN_TYPE",
  "TOO_MANY_PIXELS",
  "ANIMATED",
  "DAMAGED",
  "TOO_SLOW"
] as const
export type RefusedReason = (typeof refusedReasons)[number]

/** The file does not become a picture. */
export class PictureRefused extends Schema.TaggedError<PictureRefused>()("PictureRefused", {
  reason: Schema.Literals(refusedReasons)
}) {}

/** A WebP picture without metadata. Width and height are in pixels. */
export interface CleanPicture {
  readonly bytes: Uint8Array
  readonly width: number
  readonly height: number
}

/** Opens a file for decoding. */
type Open = (file: Uint8Array, options?: SharpOptions) => Sharp

export class PictureCleaner extends Context.Service<
  PictureCleaner,
  {
    /** Cleans a file when it is its turn. Fails immediately if too many wait. */
    clean(file: Uint8Array): Effect.Effect<CleanPicture, PictureRefused | Unavailable>
  }
>()("usher/http/admin/catalogue/PictureCleaner") {
  static readonly layer = Layer.effect(
    PictureCleaner,
    Effect.suspend(() => make(open))
  )
}

/** Makes the service. `opening` returns the decoder, which is loaded with the first file. */
export const make = Effect.fnUntraced(function* (opening: Effect.Effect<Open>) {
  const inTurn = yield* ConcurrencyLimit.make("pictures", {
    most: 1,
    waitingMax: uploadsWaitingMax,
    waitingSecondsMax: decodingSeconds
  })
  return PictureCleaner.of({
    clean: (file) =>
      Effect.suspend((): Effect.Effect<CleanPicture, PictureRefused | Unavailable> => {
        const reason = refusedBefore(file)
        if (reason !== undefined) return new PictureRefused({ reason })
        // A decoder cannot be interrupted, so its turn lasts until it ends, also if the caller is gone.
        return inTurn(Effect.uninterruptible(Effect.flatMap(opening, (open) => decoded(open, file))))
      })
  })
})

/** The decoder reads four formats and no other, so that the parsers of SVG, PDF and the like are out of reach. */
const loaders = ["Png", "Jpeg", "Webp", "Heif"].map((format) => `VipsForeignLoad${format}Buffer`)

const open = Effect.map(
  Effect.promise(() => import("sharp")),
  ({ default: sharp }): Open => {
    sharp.concurrency(1)
    sharp.cache(false)
    sharp.block({ operation: ["VipsForeignLoad"] })
    sharp.unblock({ operation: loaders })
    return sharp
  }
)

const refusedBefore = (file: Uint8Array): RefusedReason | undefined => {
  if (file.length === 0) return "EMPTY"
  if (file.length > pictureBytesMax) return "TOO_LARGE"
  const head = Buffer.from(file.subarray(0, 16)).toString("latin1")
  if (head.slice(4, 12) === "ftypavis") return "ANIMATED"
  return hasAcceptedType(head) ? undefined : "UNKNOWN_TYPE"
}

const hasAcceptedType = (head: string): boolean =>
  head.startsWith("\x89PNG\r\n\x1a\n") ||
  head.startsWith("\xff\xd8\xff") ||
  (head.startsWith("RIFF") && head.slice(8, 12) === "WEBP") ||
  ["ftypavif", "ftypmif1"].includes(head.slice(4, 12))

const acceptedFormats: ReadonlySet<string> = new Set(["png", "jpeg", "webp", "heif"])

const decoded = Effect.fnUntraced(function* (open: Open, file: Uint8Array) {
  const header = yield* orRefused(() => open(file, { limitInputPixels: false }).metadata())
  const reason = refusedByHeader(file, header)
  if (reason !== undefined) return yield* new PictureRefused({ reason })
  const { data, info } = yield* orRefused(() =>
    open(file, { limitInputPixels: picturePixelsMax, failOn: "error" })
      .autoOrient()
      .resize({ width: sideMax, height: sideMax, fit: "inside", withoutEnlargement: true })
      .webp({ quality })
      .timeout({ seconds: decodingSeconds })
      .toBuffer({ resolveWithObject: true })
  )
  if (data.length > pictureBytesMax) return yield* new PictureRefused({ reason: "TOO_LARGE" })
  return { bytes: new Uint8Array(data), width: info.width, height: info.height }
})

const refusedByHeader = (file: Uint8Array, header: Metadata): RefusedReason | undefined => {
  if (!acceptedFormats.has(header.format)) return "UNKNOWN_TYPE"
  if (header.format === "heif" && header.compression !== "av1") return "UNKNOWN_TYPE"
  if ((header.pages ?? 1) > 1 || isAnimatedPng(file)) return "ANIMATED"
  const pixelsMax = header.format === "heif" ? avifPixelsMax : picturePixelsMax
  return header.width * header.height > pixelsMax ? "TOO_MANY_PIXELS" : undefined
}

/** The chunk `acTL` stands before the first `IDAT`; the decoder of PNG does not look for it. */
const isAnimatedPng = (file: Uint8Array): boolean => {
  const buffer = Buffer.from(file.buffer, file.byteOffset, file.byteLength)
  const control = buffer.indexOf("acTL")
  return buffer[0] === 0x89 && control !== -1 && control < buffer.indexOf("IDAT")
}

const orRefused = <A>(read: () => Promise<A>) =>
  Effect.tryPromise({
    try: read,
    catch: (error) =>
      new PictureRefused({
        reason: error instanceof Error && /\btimeout: /.test(error.message) ? "TOO_SLOW" : "DAMAGED"
      })
  })
