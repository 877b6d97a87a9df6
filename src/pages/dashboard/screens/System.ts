/** The state of the installation: the version, whether this process is ready, the nodes, and parked mechanisms. */
import { Effect } from "effect"
import type { Readiness } from "../../../engine/lifecycle/Readiness.ts"
import { apiVersion } from "../../../api/OpenApi.ts"
import { html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { get } from "../Route.ts"
import { facts, instant, mechanismColumns, table } from "../Table.ts"

type Nodes = AdminAnswer<"nodes", "listNodes">

/** The routes of the system. */
export const make = (api: AdminApiClient["Service"], readiness: Readiness["Service"], nodeName: string) => [
  get(
    "/system",
    Effect.fnUntraced(function* (operator) {
      const { isReady, ...report } = yield* readiness.report
      const found = yield* api.run(operator, "nodes", "listNodes", {})
      return {
        title: "System",
        body: html`
          <section class="card">
            <h2>This process</h2>
            ${facts([
              ["Version", apiVersion],
              ["Node.js", process.version],
              ["Name", nodeName],
              ["Ready", isReady ? "yes" : JSON.stringify(report)],
              [
                "Remarks",
                Object.values({ ...report.remarks, proxy: report.facts["proxy"] })
                  .filter(Boolean)
                  .join("; ") || "none"
              ],
              ["Behind since", instant(found.oldestOverdueWakeUpAt)]
            ])}
          </section>
          ${nodesOf(found)} ${parkedOf(found)}
        `
      }
    })
  )
]

const nodesOf = ({ data }: Nodes) =>
  table<Nodes["data"][number]>(
    "Nodes",
    data,
    [
      { title: "Node", cell: ({ name }) => name },
      { title: "Shards", cell: ({ shards }) => shards ?? "all" },
      { title: "Mechanisms of yours", cell: ({ mechanisms }) => mechanisms },
      { title: "Started", cell: ({ startedAt }) => instant(startedAt) },
      { title: "Heard", cell: ({ heardAt }) => instant(heardAt) }
    ],
    "No node has reported yet. Look again in a few seconds."
  )

const parkedOf = ({ parkedMechanisms }: Nodes) =>
  table<Nodes["parkedMechanisms"][number]>(
    "Parked mechanisms",
    parkedMechanisms,
    [
      ...mechanismColumns("Mechanism"),
      { title: "Node", cell: ({ node }) => node },
      { title: "Since", cell: ({ parkedAt }) => instant(parkedAt) },
      { title: "Restarts", cell: ({ restarts }) => restarts }
    ],
    "No mechanism is parked."
  )
