/** The files that a new kind of mechanism has to touch. The rule also gets a bad sample. */
import { assert, describe, it } from "@effect/vitest"
import { assertTidy } from "./rules/Finding.ts"
import { filesNaming, listsOfKinds } from "./rules/kinds.ts"
import { readTree } from "./rules/Tree.ts"

const tree = readTree()

/** The files that name a kind beside its own. At most fourteen. */
const naming = [
  "src/cli/demo/OneStock.ts",
  "src/cli/demo/SideEvents.ts",
  "src/client/types.ts",
  "src/client/view.ts",
  "src/domain/mechanism/Mechanism.ts",
  "src/api/admin/KindsApi.ts",
  "src/http/admin/records/Handlers.ts",
  "src/http/consumer/Routes.ts",
  "src/api/consumer/KindsApi.ts",
  "src/pages/words/en.json",
  "src/pages/dashboard/newDrop/Parts.ts",
  "src/pages/dashboard/schedule/Terms.ts",
  "src/pages/dashboard/drop/Kinds.ts",
  "src/pages/room/mechanism/Kinds.ts"
]

describe("a kind of mechanism", () => {
  // No other word of the code is like the names of this kind.
  it("is named by at most fourteen files beside its own", () => {
    assert.sameMembers([...filesNaming(tree, "timed_release")], naming)
    assert.isAtMost(naming.length, 14)
  })

  it("is named by the files that the how-to for a new kind names", () => {
    const howTo = /## Add a seventh mechanism\n(.*?)\n## /s.exec(textOf("src/ARCHITECTURE.md"))![1]!
    const missing = naming.filter((path) => !howTo.includes(`\`${path.replace("src/", "")}\``))
    assert.deepStrictEqual(missing, [])
  })

  it("is in no list of kinds elsewhere", () => assertTidy(listsOfKinds(tree, naming)))

  it("is found where a file outside its folders names it, and where a file lists kinds", () => {
    const sample = [
      { path: "src/store/a.ts", text: "where kind in ('queue', 'draw', 'timed_release')" },
      { path: "src/http/admin/timedRelease/b.ts", text: '"timed_release"' },
      { path: "src/pages/room/mechanism/TimedRelease.ts", text: '"timed_release"' },
      { path: "src/load/c.ts", text: 'const path = "/timed-releases"' }
    ]
    assert.deepStrictEqual(filesNaming(sample, "timed_release"), ["src/store/a.ts", "src/load/c.ts"])
    const [found, ...others] = listsOfKinds(sample, [])
    assert.deepInclude(found, {
      path: "src/store/a.ts",
      problem: "lists kinds of mechanism"
    })
    assert.isEmpty(others)
  })
})

const textOf = (path: string): string => tree.find((file) => file.path === path)!.text
