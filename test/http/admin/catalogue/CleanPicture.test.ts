import { assert, describe, it, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { gzipSync } from "node:zlib"
import sharp from "sharp"
import { pictureBytesMax } from "../../../../src/domain/catalogue/Picture.ts"
import {
  make,
  PictureCleaner,
  type RefusedReason,
  uploadsWaitingMax
} from "../../../../src/http/admin/catalogue/CleanPicture.ts"

const blank = (width: number, height: number) =>
  sharp({ create: { width, height, channels: 3, background: "#c04020" }, limitInputPixels: false })

const png = await blank(40, 30).png().toBuffer()
const jpeg = await blank(40, 30).jpeg().toBuffer()
const webp = await blank(40, 30).webp().toBuffer()
const avif = await blank(40, 30).avif().toBuffer()
const gif = await blank(40, 30).gif().toBuffer()
const tiff = await blank(40, 30).tiff().toBuffer()
const bomb = await blank(10_000, 10_000).png({ compressionLevel: 9 }).toBuffer()
const other = await sharp({ create: { width: 40, height: 30, channels: 3, background: "#2040c0" } })
  .png()
  .toBuffer()
const film = await sharp([png, other], { join: { animated: true } })
  .webp({ loop: 0 })
  .toBuffer()
const located = await blank(40, 30)
  .withExif({ IFD0: { Copyright: "Somebody" }, IFD3: { GPSLatitudeRef: "N", GPSLatitude: "51/1 30/1 0/1" } })
  .jpeg()
  .toBuffer()
const scripted = await blank(40, 30)
  .withExif({ IFD0: { ImageDescription: "<script>alert(1)</script>" } })
  .jpeg()
  .toBuffer()
const noise = await sharp({
  create: {
    width: 400,
    height: 300,
    channels: 3,
    background: "#000",
    noise: { type: "gaussian", mean: 128, sigma: 60 }
  }
})
  .png()
  .toBuffer()
const tall = await blank(2, 20_000).png().toBuffer()
const grey = await blank(40, 30).toColourspace("b-w").jpeg().toBuffer()
const print = await blank(40, 30).toColourspace("cmyk").jpeg().toBuffer()
const deep = await blank(40, 30).toColourspace("rgb16").png().toBuffer()
const clear = await sharp({ create: { width: 40, height: 30, channels: 4, background: "#c0402000" } })
  .png()
  .toBuffer()
const profiled = await blank(40, 30).withIccProfile("p3").withXmp("<x>alert(1)</x>").png().toBuffer()
const turned = await blank(40, 30).withMetadata({ orientation: 6 }).jpeg().toBuffer()

const script = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const page = "<!doctype html><script>alert(1)</script>"
const bytes = (text: string) => Buffer.from(text, "latin1")
const half = (file: Buffer) => file.subarray(0, Math.floor(file.length / 2))

/** A PNG whose header states other sides than its data has. */
const withSides = (width: number, height: number) => {
  const file = Buffer.from(png)
  file.writeUInt32BE(width, 16)
  file.writeUInt32BE(height, 20)
  return file
}

/** An AVIF whose header states these sides. */
const statedAvif = (width: number, height: number) => {
  const file = Buffer.from(avif)
  const at = file.indexOf("ispe") + 8
  file.writeUInt32BE(width, at)
  file.writeUInt32BE(height, at + 4)
  return file
}

/** A JPEG whose header states these sides. */
const statedJpeg = (side: number) => {
  const file = Buffer.from(jpeg)
  const at = file.indexOf(Buffer.from([0xff, 0xc0]))
  file.writeUInt16BE(side, at + 5)
  file.writeUInt16BE(side, at + 7)
  return file
}

/** A PNG with another byte at a place, counted from the end if it is negative. */
const withByte = (file: Buffer, at: number, byte: number) => {
  const changed = Buffer.from(file)
  changed[at < 0 ? file.length + at : at] = byte
  return changed
}

/** A chunk of a PNG with a checksum that is not its own. */
const chunk = (name: string, data: string) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, bytes(`${name}${data}\0\0\0\0`)])
}

/** A PNG with a chunk before its data. */
const withChunk = (name: string, data: string) =>
  Buffer.concat([png.subarray(0, 33), chunk(name, data), png.subarray(33)])

/** A PNG with the chunk that announces an animation. */
const animatedPng = Buffer.concat([
  png.subarray(0, 33),
  bytes("\0\0\0\x08acTL\0\0\0\x02\0\0\0\0\0\0\0\0"),
  png.subarray(33)
])

const refused: ReadonlyArray<readonly [string, Uint8Array, RefusedReason]> = [
  ["nothing", bytes(""), "EMPTY"],
  ["5 MB and a byte", Buffer.concat([png, Buffer.alloc(pictureBytesMax + 1 - png.length)]), "TOO_LARGE"],
  ["an SVG with a script", bytes(script), "UNKNOWN_TYPE"],
  ["an SVG after a declaration", bytes(`<?xml version="1.0"?>${script}`), "UNKNOWN_TYPE"],
  ["a page", bytes(page), "UNKNOWN_TYPE"],
  ["a GIF", gif, "UNKNOWN_TYPE"],
  ["a TIFF", tiff, "UNKNOWN_TYPE"],
  ["a PDF", bytes("%PDF-1.7\n1 0 obj"), "UNKNOWN_TYPE"],
  ["a BMP", bytes("BM\x46\0\0\0\0\0\0\0\x36\0\0\0"), "UNKNOWN_TYPE"],
  ["an icon", bytes("\0\0\x01\0\x01\0\x10\x10\0\0\x01\0"), "UNKNOWN_TYPE"],
  ["a JPEG XL", bytes("\xff\x0a\xfa\x7f\x01\x90"), "UNKNOWN_TYPE"],
  ["a film", bytes("\0\0\0\x18ftypmp42\0\0\0\0mp42isom"), "UNKNOWN_TYPE"],
  ["a program", bytes("\x7fELF\x02\x01\x01"), "UNKNOWN_TYPE"],
  ["a picture behind a page", Buffer.concat([bytes(page), png]), "UNKNOWN_TYPE"],
  ["a GIF that is a script", bytes("GIF89a=1;alert(1)"), "UNKNOWN_TYPE"],
  ["a ZIP", bytes("PK\x03\x04"), "UNKNOWN_TYPE"],
  ["HEVC in the container of AVIF", bytes("\0\0\0\x18ftypheic\0\0\0\0heicmif1"), "UNKNOWN_TYPE"],
  ["zeros", Buffer.alloc(4_096), "UNKNOWN_TYPE"],
  ["an SVG in UTF-16", Buffer.from(`\ufeff${script}`, "utf16le"), "UNKNOWN_TYPE"],
  ["a compressed SVG", gzipSync(script), "UNKNOWN_TYPE"],
  ["PostScript", bytes("%!PS-Adobe-3.0 EPSF-3.0\n(r) file"), "UNKNOWN_TYPE"],
  ["a drawing that names an address", bytes("push graphic-context\nfill 'url(https://evil.example/)'"), "UNKNOWN_TYPE"],
  ["a JPEG that states 65,500 px a side", statedJpeg(65_500), "TOO_MANY_PIXELS"],
  ["100 megapixels", bomb, "TOO_MANY_PIXELS"],
  ["an AVIF of 17 megapixels", statedAvif(4_250, 4_000), "TOO_MANY_PIXELS"],
  ["an AVIF of 100 megapixels", statedAvif(10_000, 10_000), "TOO_MANY_PIXELS"],
  ["an AVIF of other sides than it states", statedAvif(400, 300), "DAMAGED"],
  ["an animated WebP", film, "ANIMATED"],
  ["an animated PNG", animatedPng, "ANIMATED"],
  [
    "an AVIF of the brand for films",
    Buffer.concat([avif.subarray(0, 8), bytes("avis"), avif.subarray(12)]),
    "ANIMATED"
  ],
  ["a page behind the signature of PNG", Buffer.concat([png.subarray(0, 8), bytes(page)]), "DAMAGED"],
  ["a script behind the signature of JPEG", Buffer.concat([jpeg.subarray(0, 3), bytes(script)]), "DAMAGED"],
  ["a script behind the signature of WebP", bytes(`RIFF\x10\0\0\0WEBP${script}`), "DAMAGED"],
  ["a script behind the signature of AVIF", bytes(`\0\0\0\x18ftypavif${script}`), "DAMAGED"],
  ["half a PNG", half(png), "DAMAGED"],
  ["the beginning of a PNG", png.subarray(0, 20), "DAMAGED"],
  ["half a JPEG", half(await sharp(noise).jpeg().toBuffer()), "DAMAGED"],
  ["a PNG whose header has a wrong checksum", withByte(png, 29, png[29]! ^ 0xff), "DAMAGED"],
  ["a PNG whose data has a wrong byte", withByte(noise, 5_000, noise[5_000]! ^ 0xff), "DAMAGED"],
  ["a WebP whose length is not its own", withByte(webp, 4, 1), "DAMAGED"],
  ["half a WebP", half(webp), "DAMAGED"],
  ["half an AVIF", half(avif), "DAMAGED"],
  ["a PNG that states sides of 2,147,483,647 px", withSides(2_147_483_647, 2_147_483_647), "DAMAGED"],
  ["a PNG that states sides of 0 px", withSides(0, 0), "DAMAGED"]
]

const cleaned: ReadonlyArray<readonly [string, Buffer]> = [
  ["a PNG", png],
  ["a JPEG", jpeg],
  ["a WebP", webp],
  ["an AVIF", avif],
  ["a PNG with a page behind it", Buffer.concat([png, bytes(page)])],
  ["a JPEG with a ZIP behind it", Buffer.concat([jpeg, bytes("PK\x03\x04alert(1)")])],
  ["a JPEG with a place", located],
  ["a grey JPEG", grey],
  ["a JPEG for print", print],
  ["a PNG of 16 bits", deep],
  ["a PNG that one sees through", clear],
  ["a PNG with a profile and a script in its XMP", profiled],
  ["a PNG with a ZIP in a chunk", withChunk("zzIp", "PK\x03\x04alert(1)")],
  ["a JPEG with a script in its EXIF", scripted],
  ["a PNG with a script in a comment", withChunk("tEXt", "Comment\0<script>alert(1)</script>")]
]

const cleanPicture = (file: Uint8Array) => Effect.flatMap(PictureCleaner, (cleaner) => cleaner.clean(file))

describe("An uploaded picture", () => {
  layer(PictureCleaner.layer, { excludeTestServices: true })((it) => {
    for (const [name, file, reason] of refused) {
      it.effect(`is refused as ${reason} when it is ${name}`, () =>
        Effect.gen(function* () {
          assert.deepInclude(yield* Effect.flip(cleanPicture(file)), { _tag: "PictureRefused", reason })
        })
      )
    }

    for (const [name, file] of cleaned) {
      it.effect(`becomes a WebP without metadata when it is ${name}`, () =>
        Effect.gen(function* () {
          const picture = yield* cleanPicture(file)
          const header = yield* Effect.promise(() => sharp(picture.bytes).metadata())
          assert.deepStrictEqual([header.format, picture.width, picture.height], ["webp", 40, 30])
          const { exif, xmp, icc, iptc, comments } = header
          assert.deepStrictEqual([exif, xmp, icc, iptc, comments], Array.from({ length: 5 }))
          assert.notInclude(Buffer.from(picture.bytes).toString("latin1"), "alert(1)")
        })
      )
    }

    it.effect("is turned as its orientation says", () =>
      Effect.gen(function* () {
        const { width, height } = yield* cleanPicture(turned)
        assert.deepStrictEqual([width, height], [30, 40])
      })
    )

    it.effect("is made smaller when a side is long", () =>
      Effect.gen(function* () {
        const { width, height } = yield* cleanPicture(tall)
        assert.deepStrictEqual([width, height], [1, 2_400])
      })
    )
  })
})

describe("The decoder of pictures", () => {
  /** A decoder that ends as told. */
  const waiting = Effect.gen(function* () {
    const end = yield* Deferred.make<Error>()
    const ended = Effect.runPromise(Deferred.await(end)).then((error) => Promise.reject(error))
    ended.catch(() => {})
    const begun = { count: 0 }
    const open = () => {
      begun.count++
      return { metadata: () => ended }
    }
    return { end, begun, cleaner: yield* make(Effect.succeed(open as never)) }
  })

  it.live("decodes one file at a time, lets few wait, and refuses others at once", () =>
    Effect.gen(function* () {
      const { end, begun, cleaner } = yield* waiting
      const all = yield* Effect.forkChild(
        Effect.forEach(Array.from({ length: uploadsWaitingMax }), () => Effect.flip(cleaner.clean(png)), {
          concurrency: "unbounded"
        })
      )
      yield* Effect.sleep("20 millis")
      assert.strictEqual(begun.count, 1)
      assert.strictEqual((yield* Effect.flip(cleaner.clean(png)))._tag, "Unavailable")
      yield* Deferred.succeed(end, new Error("damaged"))
      for (const error of yield* Fiber.join(all)) assert.deepInclude(error, { reason: "DAMAGED" })
      assert.strictEqual(begun.count, uploadsWaitingMax)
    })
  )

  it.live("keeps its turn until it ends, also when the caller is gone", () =>
    Effect.gen(function* () {
      const { end, begun, cleaner } = yield* waiting
      const gone = yield* Effect.forkChild(cleaner.clean(png), { startImmediately: true })
      yield* Effect.sleep("20 millis")
      yield* Effect.forkChild(Fiber.interrupt(gone))
      const next = yield* Effect.forkChild(Effect.flip(cleaner.clean(png)))
      yield* Effect.sleep("20 millis")
      assert.strictEqual(begun.count, 1)
      yield* Deferred.succeed(end, new Error("damaged"))
      yield* Fiber.join(next)
      assert.strictEqual(begun.count, 2)
    })
  )

  it.live("says that it was too slow", () =>
    Effect.gen(function* () {
      const { end, cleaner } = yield* waiting
      yield* Deferred.succeed(end, new Error("VipsJpeg: timeout: 41% complete"))
      assert.deepInclude(yield* Effect.flip(cleaner.clean(png)), { reason: "TOO_SLOW" })
    })
  )
})
