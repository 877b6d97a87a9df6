/** A picture to upload: 8 by 6 px, PNG. */
import { crc32, deflateSync } from "node:zlib"

const chunk = (name: string, data: Buffer): Buffer => {
  const framed = Buffer.concat([Buffer.from(name), data])
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  const checksum = Buffer.alloc(4)
  checksum.writeUInt32BE(crc32(framed))
  return Buffer.concat([length, framed, checksum])
}

/** Makes a PNG of one colour with these sides. */
export const pngOf = (width: number, height: number, [red, green, blue] = [192, 64, 32]): Buffer => {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header.set([8, 2], 8)
  const row = Buffer.from([0, ...Array.from({ length: width }, () => [red, green, blue]).flat()])
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, () => row)))
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1a\n", "latin1"),
    chunk("IHDR", header),
    chunk("IDAT", data),
    chunk("IEND", Buffer.alloc(0))
  ])
}

export const png = pngOf(8, 6)
