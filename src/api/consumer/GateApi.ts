/** The record of a gate, for gates in the field. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Settings } from "../../domain/gate/Gate.ts"
import { AdmissionRenewal } from "../../domain/queue/Configuration.ts"
import { Id, Mode } from "../../domain/values/Ids.ts"
import { GateAction } from "../Credentials.ts"
import { NotFound } from "../Errors.ts"
import { revokedQuery, RevokedGrants } from "./RevokedGrantApi.ts"

const { name: _, ...settings } = Settings.fields

/** A queue that the rules of the gate name. */
const GateQueue = Schema.Struct({
  experienceId: Id,
  state: Schema.Literals(["scheduled", "open", "ended"]).annotate({
    description:
      "`scheduled`: it has not opened. `ended`: it has closed, or is archived. Neither lets visitors without a grant " +
      "pass, whatever `failMode` says; a rule's `afterEnd` may, after the end."
  }),
  engaged: Schema.Boolean.annotate({
    description: "True while anyone waits or an entry would have to: visitors without a grant belong in the room."
  }),
  roomUrl: Schema.String,
  admissionRenewal: Schema.NullOr(AdmissionRenewal).annotate({
    description: "A gate notes a visitor for `renew` at half of `idleSeconds`. Null: grants are not renewed."
  })
})

export const GateRecord = Schema.Struct({
  id: Id,
  organizationId: Id,
  mode: Mode,
  version: Schema.String.annotate({ description: "Another one as soon as a setting of the gate has changed." }),
  ...settings,
  keysUrl: Schema.String.annotate({ description: "Where the keys are published that sign grants." }),
  queues: Schema.Record(Schema.String, GateQueue).annotate({
    description: "The queues of the rules, by id. One that is parked is left out."
  })
}).annotate({ identifier: "GateRecord" })
export type GateRecord = typeof GateRecord.Type

export class GatesGroup extends HttpApiGroup.make("gates")
  .add(
    HttpApiEndpoint.get("get", "/gates/:gateId", { params: { gateId: Id }, success: GateRecord, error: NotFound })
      .middleware(GateAction)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Get a gate",
          description:
            "What a gate in front of a site needs for its decisions. Ask again every ten seconds, with `If-None-Match`: the " +
            "answer is a 304 while nothing has changed. The gate's own key opens it."
        })
      ),
    HttpApiEndpoint.get("ended", "/gates/:gateId/ended", {
      params: { gateId: Id },
      query: revokedQuery,
      success: RevokedGrants,
      error: NotFound
    })
      .middleware(GateAction)
      .annotateMerge(
        OpenApi.annotations({
          summary: "List the ended grants of a gate's queues",
          description:
            "Like `GET /grants/revoked`, for the queues that the gate's rules name. A cookie with one of these grants does " +
            "not let pass. Ask again with `until` as `since`, about every second."
        })
      )
  )
  .annotateMerge(OpenApi.annotations({ title: "Gates", description: "For gates in front of sites." })) {}
