/** A font to upload: the header of a WOFF2 file with one table, and bytes that no browser reads. */

/** Makes a file with this header. */
export const woff2Of = ({
  flavor = 0x00010000,
  length,
  tables = 1,
  reserved = 0,
  unpacked = 1_000,
  packed,
  size = 200
}: {
  readonly flavor?: number
  readonly length?: number
  readonly tables?: number
  readonly reserved?: number
  readonly unpacked?: number
  readonly packed?: number
  readonly size?: number
} = {}): Buffer => {
  const file = Buffer.alloc(size)
  file.write("wOF2", "latin1")
  file.writeUInt32BE(flavor, 4)
  file.writeUInt32BE(length ?? size, 8)
  file.writeUInt16BE(tables, 12)
  file.writeUInt16BE(reserved, 14)
  file.writeUInt32BE(unpacked, 16)
  file.writeUInt32BE(packed ?? size - 48, 20)
  return file
}

export const woff2 = woff2Of()
