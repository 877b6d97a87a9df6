/** Reads the tables of an archive, and checks its digests on the way. */
import { Effect, Option } from "effect"
import { createHash, type Hash } from "node:crypto"
import { type ArchiveDamaged, type ArchiveFailed, damaged } from "./ArchiveFailed.ts"
import { type Entry, textOf } from "./ArchiveReader.ts"
import type { CopyIn } from "./CopyConnection.ts"
import { type CopiedTable, manifestName, sumsName, type Table, tableOfPart } from "./Manifest.ts"

/** The fields of every manifest. */
interface Copied {
  readonly tables: ReadonlyArray<CopiedTable>
}

/** The layout of an archive, and the tables it fills. */
export interface Layout<M extends Copied> {
  readonly introductionName: string
  readonly decodeManifest: (text: string) => Option.Option<M>
  readonly tables: ReadonlyArray<Table>
  readonly copyIn: (table: Table) => CopyIn
}

const sha256 = (content: Uint8Array): string => createHash("sha256").update(content).digest("hex")

/** A table whose parts are being read. */
interface Current {
  readonly table: Table
  readonly copy: CopyIn
  readonly digest: Hash
  bytes: number
}

type Step = Effect.Effect<void, ArchiveDamaged | ArchiveFailed>

/** Takes the entries of an archive one after the other, and compares them with its manifest at the end. */
export class Loading<M extends Copied> {
  private readonly layout: Layout<M>
  private readonly tables: ReadonlyMap<string, Table>
  private readonly loaded = new Map<string, CopiedTable>()
  private readonly sums: Array<string> = []
  private current: Current | undefined
  private manifest: M | undefined
  private isComplete = false

  /** `first` is the introduction, which has been read. */
  constructor(layout: Layout<M>, first: Entry) {
    this.layout = layout
    this.tables = new Map(layout.tables.map((table) => [table.name, table]))
    this.note(first)
  }

  take(entry: Entry): Step {
    if (this.isComplete) return damaged(`${entry.name} follows the last entry`)
    if (entry.name === manifestName) return Effect.andThen(this.endTable, this.readManifest(entry))
    if (entry.name === sumsName) return this.checkSums(entry)
    return this.loadPart(entry)
  }

  /** Returns the manifest, if the archive was complete. */
  get end(): Effect.Effect<M, ArchiveDamaged> {
    return this.manifest === undefined || !this.isComplete
      ? damaged("the file ends too early")
      : Effect.succeed(this.manifest)
  }

  /** Gives up the table that is being filled. */
  get abandon(): Effect.Effect<void> {
    return Effect.suspend(() => this.current?.copy.abandon ?? Effect.void)
  }

  private loadPart(entry: Entry): Step {
    return Effect.gen({ self: this }, function* () {
      const name = tableOfPart(entry.name)
      const table = name === undefined ? undefined : this.tables.get(name)
      if (table === undefined || this.loaded.has(table.name)) return yield* damaged(`${entry.name} is unexpected`)
      const text = yield* textOf(entry)
      if (this.current?.table !== table) {
        yield* this.endTable
        const copy = this.layout.copyIn(table)
        this.current = { table, copy, digest: createHash("sha256"), bytes: 0 }
      }
      const { copy, digest } = this.current
      digest.update(text)
      this.current.bytes += text.length
      yield* copy.write(text).pipe(Effect.catchTag("ArchiveFailed", orDamagedRow(table)))
    })
  }

  private get endTable(): Step {
    if (this.current === undefined) return Effect.void
    const { table, copy, digest, bytes } = this.current
    this.current = undefined
    return copy.end.pipe(
      Effect.catchTag("ArchiveFailed", orDamagedRow(table)),
      Effect.map((rows) => void this.loaded.set(table.name, { ...table, rows, bytes, sha256: digest.digest("hex") }))
    )
  }

  private readManifest(entry: Entry): Step {
    return Effect.suspend((): Step => {
      this.note(entry)
      const manifest = Option.getOrUndefined(this.layout.decodeManifest(entry.content.toString("utf8")))
      if (manifest === undefined) return damaged(`${manifestName} cannot be read`)
      if (manifest.tables.length !== this.tables.size) return damaged("the manifest lists other tables")
      const none = { rows: 0, bytes: 0, sha256: sha256(Buffer.alloc(0)) }
      const different = manifest.tables.find((expected) => {
        const found = this.loaded.get(expected.name) ?? none
        return found.rows !== expected.rows || found.bytes !== expected.bytes || found.sha256 !== expected.sha256
      })
      if (different !== undefined) return damaged(`the rows of ${different.name} differ from the manifest`)
      this.manifest = manifest
      return Effect.void
    })
  }

  private checkSums({ content }: Entry): Step {
    this.isComplete = content.toString("utf8") === this.sums.join("")
    return this.isComplete
      ? Effect.void
      : damaged(`${this.layout.introductionName} or ${manifestName} differs from ${sumsName}`)
  }

  private note({ name, content }: Entry): void {
    this.sums.push(`${sha256(content)}  ${name}\n`)
  }
}

/** A row that the database refuses has been changed. Otherwise the connection was lost. */
const orDamagedRow =
  ({ name }: Table) =>
  (error: ArchiveFailed) =>
    Effect.fail(
      /^2[23]/.test(error.code ?? "") ? damaged(`a row of ${name} cannot be loaded (${error.message})`) : error
    )
