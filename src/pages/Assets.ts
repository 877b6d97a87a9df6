/**
 * The scripts and styles of pages, and the modules of shops. `esbuild` makes each of them when it is first asked for, so
 * there is no build step. A page contains its own, so it is there with one request.
 */
import { Context, Effect, Layer } from "effect"
import type { BuildOptions, Plugin } from "esbuild"
import { fileURLToPath } from "node:url"

const fileAt = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** Puts the browser's digests in the place of Node's. */
const digests: Plugin = {
  name: "digests",
  setup: (build) => build.onResolve({ filter: /\/values\/Digest\.ts$/ }, () => ({ path: fileAt("browser/digest.ts") }))
}

/** The solver of challenges is rarely needed, and a widget is there before it moves, so these stay modules of their own. */
const apart: Plugin = {
  name: "apart",
  setup: (build) =>
    build.onResolve({ filter: /\/(challenge|enhancements)\.ts$/ }, ({ kind, path }) =>
      kind === "dynamic-import" ? { path: path.replace(/ts$/, "js"), external: true } : undefined
    )
}

interface Kind extends Pick<BuildOptions, "format" | "plugins"> {
  /** The oldest browsers that run the script. Others get the page without it. */
  readonly target: string
  readonly folder: string
}

/** For a script or style inside a page. Browsers that write durations by `Intl`, as pages do, have this syntax. */
const page: Kind = { folder: "browser", format: "iife", target: "es2020" }

/** The check of a draw needs whole numbers of any length. Without them it tells the command. */
const proof: Kind = { ...page, plugins: [digests] }

/** For a module that a shop's page imports. Its class fields need no rewriting. */
const shop: Kind = { folder: "../client", format: "esm", target: "es2022", plugins: [apart] }

const kinds = {
  "room.ts": page,
  "room.css": page,
  "proof.ts": proof,
  "dashboard.ts": page,
  "dashboard.css": page,
  "client.ts": shop,
  "embed.ts": shop,
  "enhancements.ts": shop,
  "challenge.ts": shop
} as const satisfies { readonly [name: string]: Kind }

export type AssetName = keyof typeof kinds

/** The modules that shops load from this server. */
export type ModuleName = "client.ts" | "embed.ts" | "enhancements.ts" | "challenge.ts"

export class Assets extends Context.Service<
  Assets,
  {
    /** Returns the minified text. It is empty if it cannot be made: a page also works without its script. */
    text(name: AssetName): Effect.Effect<string>
  }
>()("usher/pages/Assets") {
  static readonly layer = Layer.effect(Assets)(
    Effect.gen(function* () {
      const made = new Map<AssetName, Effect.Effect<string>>()
      for (const name of Object.keys(kinds) as ReadonlyArray<AssetName>) {
        made.set(name, yield* Effect.cached(make(name)))
      }
      return { text: (name) => made.get(name)! }
    })
  )
}

const make = (name: AssetName) => {
  const { folder, ...options }: Kind = kinds[name]
  return Effect.tryPromise(() => import("esbuild")).pipe(
    Effect.flatMap((esbuild) =>
      Effect.tryPromise(() =>
        esbuild.build({
          ...options,
          entryPoints: [fileAt(`${folder}/${name}`)],
          bundle: true,
          minify: true,
          write: false,
          charset: "utf8",
          legalComments: "none",
          logLevel: "silent"
        })
      )
    ),
    Effect.map(({ outputFiles }) => outputFiles[0]!.text.trim()),
    Effect.catchCause((cause) => Effect.as(Effect.logError(`${name} of the pages could not be made`, cause), ""))
  )
}
