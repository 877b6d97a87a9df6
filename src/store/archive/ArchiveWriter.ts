/**
 * Writes an archive: a tar file that gets its name when it is complete and on disk. Until then it is called
 * `….partial`. Memory holds one part of a table.
 */
import { Effect, type Scope, Stream } from "effect"
import { createHash } from "node:crypto"
import { type FileHandle, open, rename, rm } from "node:fs/promises"
import { dirname } from "node:path"
import { pipeline } from "node:stream/promises"
import { promisify } from "node:util"
import { gzip } from "node:zlib"
import { type Pack, pack } from "tar-stream"
import { ArchiveFailed, attempt } from "./ArchiveFailed.ts"
import { partName } from "./Manifest.ts"

/** Bytes of one part, before compression. */
const partBytes = 4 * 1024 * 1024

const compress = promisify(gzip)

/** The written part of a table. */
export interface Written {
  readonly bytes: number
  readonly sha256: string
}

export class ArchiveWriter {
  private readonly path: string
  private readonly partial: string
  private readonly tar: Pack
  /** Settles when the file has taken all bytes, or fails as soon as it cannot. */
  private readonly written: Promise<void>
  private isComplete = false
  /** Bytes of the content so far. */
  size = 0

  /**
   * Opens the partial file, and replaces what an interrupted backup left. Only the owner may read it. It is removed with
   * the scope, unless the archive is complete.
   */
  static readonly open = (path: string): Effect.Effect<ArchiveWriter, ArchiveFailed, Scope.Scope> =>
    Effect.acquireRelease(
      Effect.gen(function* () {
        const partial = `${path}.partial`
        const file = yield* attempt(() => open(partial, "w", 0o600))
        yield* attempt(() => file.chmod(0o600))
        return new ArchiveWriter(path, partial, file)
      }),
      (writer) => Effect.ignore(writer.remove)
    )

  private constructor(path: string, partial: string, file: FileHandle) {
    this.path = path
    this.partial = partial
    this.tar = pack()
    this.written = pipeline(this.tar, file.createWriteStream({ flush: true }))
    // Each call that waits for it reports the failure.
    this.written.catch(() => undefined)
  }

  /** Adds an entry. Returns when the file has taken it. */
  add(name: string, content: Buffer): Effect.Effect<void, ArchiveFailed> {
    const entry = Effect.callback<void, ArchiveFailed>((resume) => {
      this.size += content.length
      this.tar.entry({ name, mode: 0o600 }, content, (error) =>
        resume(error ? Effect.fail(new ArchiveFailed({ cause: error })) : Effect.void)
      )
    })
    return Effect.raceFirst(
      entry,
      Effect.andThen(
        attempt(() => this.written),
        Effect.never
      )
    )
  }

  /** Adds a table's text in compressed parts. */
  addTable(
    table: string,
    text: Stream.Stream<Uint8Array, ArchiveFailed>,
    onBytes: (bytes: number) => Effect.Effect<void>
  ): Effect.Effect<Written, ArchiveFailed> {
    const digest = createHash("sha256")
    let bytes = 0
    let part = 0
    let chunks: Array<Uint8Array> = []
    let gathered = 0
    const flush = Effect.suspend(() => {
      const content = Buffer.concat(chunks)
      chunks = []
      gathered = 0
      part += 1
      return Effect.flatMap(
        attempt(() => compress(content, { level: 1 })),
        (compressed) => this.add(partName(table, part), compressed)
      )
    })
    const take = (chunk: Uint8Array) => {
      digest.update(chunk)
      bytes += chunk.length
      gathered += chunk.length
      chunks.push(chunk)
      return Effect.andThen(onBytes(chunk.length), gathered >= partBytes ? flush : Effect.void)
    }
    return Stream.runForEach(text, take).pipe(
      Effect.andThen(Effect.suspend(() => (gathered > 0 ? flush : Effect.void))),
      Effect.andThen(Effect.sync(() => ({ bytes, sha256: digest.digest("hex") })))
    )
  }

  /** Ends the archive, waits until it is on disk, and gives it its name. */
  readonly complete: Effect.Effect<void, ArchiveFailed> = Effect.gen({ self: this }, function* () {
    this.tar.finalize()
    yield* attempt(() => this.written)
    yield* attempt(() => rename(this.partial, this.path))
    this.isComplete = true
    const folder = yield* attempt(() => open(dirname(this.path), "r"))
    yield* attempt(() => folder.sync()).pipe(Effect.ensuring(Effect.promise(() => folder.close())))
  })

  private get remove(): Effect.Effect<void, ArchiveFailed> {
    if (this.isComplete) return Effect.void
    this.tar.destroy()
    return attempt(() => this.written.catch(() => undefined).then(() => rm(this.partial, { force: true })))
  }
}
