/** Reads an archive from its beginning to its end, once. Memory holds one entry. */
import { Effect, type Scope, Stream } from "effect"
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { gunzip } from "node:zlib"
import { extract, type Header } from "tar-stream"
import { type ArchiveDamaged, ArchiveFailed, damaged } from "./ArchiveFailed.ts"

/** Bytes of the largest entry that is read. A writer's are smaller by far. */
const entryBytesMax = 256 * 1024 * 1024

export interface Entry {
  readonly name: string
  readonly content: Buffer
}

/** Returns the entries in order. `onBytes` is called with the bytes that were read since the last call. */
export const entries = (
  path: string,
  onBytes: (bytes: number) => void
): Effect.Effect<Stream.Stream<Entry, ArchiveDamaged | ArchiveFailed>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const tar = extract()
    yield* Effect.acquireRelease(
      Effect.sync(() => {
        const file = createReadStream(path)
        file.on("data", (chunk) => onBytes(chunk.length))
        // The reader of the entries gets the failure.
        pipeline(file, tar).catch(() => undefined)
        return file
      }),
      (file) => Effect.sync(() => file.destroy())
    )
    return Stream.fromAsyncIterable(tar, problemOf).pipe(Stream.mapEffect(read))
  })

const read = Effect.fnUntraced(function* (entry: AsyncIterable<unknown> & { readonly header: Header }) {
  const { name, size, type } = entry.header
  if (type !== "file") return yield* damaged(`the entry ${name} is not a file`)
  if (size > entryBytesMax) return yield* damaged(`the entry ${name} is too large`)
  const chunks = yield* Stream.runCollect(Stream.fromAsyncIterable(entry, problemOf))
  const content = Buffer.concat(chunks as ReadonlyArray<Buffer>)
  return content.length === size ? { name, content } : yield* damaged("the file ends too early")
})

const decompress = promisify(gunzip)

/** Decompresses a part of a table. */
export const textOf = ({ name, content }: Entry): Effect.Effect<Buffer, ArchiveDamaged> =>
  Effect.tryPromise({
    try: () => decompress(content, { maxOutputLength: entryBytesMax }),
    catch: (error) => damaged(`${name} cannot be decompressed (${(error as Error).message})`)
  })

/** Tells failures of the machine, such as a file that may not be read, from a damaged file. */
const problemOf = (cause: unknown): ArchiveDamaged | ArchiveFailed => {
  const failed = new ArchiveFailed({ cause })
  return /^E[A-Z]+$/.test(failed.code ?? "") ? failed : damaged(`it is no readable tar archive (${failed.message})`)
}
