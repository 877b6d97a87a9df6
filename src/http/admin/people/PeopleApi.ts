/** The people of the dashboard on the Admin API: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Person, Role, Settings } from "../../../domain/organization/Person.ts"
import { EmailText } from "../../../domain/values/Email.ts"
import { shape } from "../../../store/organization/People.ts"
import { Conflict, NotFound } from "../../errors/Errors.ts"
import { listAnnotations, listQuery, pageOf, searchQuery } from "../records/Lists.ts"
import { changeFields, createFields } from "../records/Payloads.ts"
import { operationsOn } from "../records/RecordApi.ts"
import { archivedQuery } from "../records/Restoring.ts"

/** The body of `POST /people`. */
export const InvitePerson = Schema.Struct({
  ...createFields(Settings.fields, ["role"]),
  email: EmailText
}).annotate({ identifier: "InvitePerson" })

const { email: _, ...changeable } = Settings.fields

/** The body of `PUT /people/{id}`. */
export const ChangePerson = Schema.Struct(changeFields(changeable, ["role"])).annotate({ identifier: "ChangePerson" })

const { create, get, change, archive, restore } = operationsOn({
  name: "Person",
  aNoun: "a person",
  path: "people",
  record: Person
})

const taken = "An address that another person has is refused (409 `EMAIL_TAKEN`)."

export class PeopleApi extends HttpApiGroup.make("people")
  .add(
    create({
      payload: InvitePerson,
      error: Conflict,
      description: `Invites the person by email. It signs in at the dashboard with its address and a mailed code. ${taken}`
    }),
    HttpApiEndpoint.get("listPeople", "/people", {
      query: {
        ...listQuery(shape),
        ...searchQuery("email and name"),
        ...archivedQuery,
        role: Schema.optionalKey(Role)
      },
      success: pageOf(Person).annotate({ identifier: "PersonPage" })
    }).annotateMerge(
      listAnnotations({
        summary: "List people",
        description: "Those who may use the dashboard, or with `archived=true` those who were removed."
      })
    ),
    get(),
    change({
      payload: ChangePerson,
      description:
        "Send the fields to change. A role holds from the person's next request on. Another address is another person."
    }),
    archive({ description: "Its sessions end at once, and it cannot sign in." }),
    restore({ error: [NotFound, Conflict], description: `It may sign in again. ${taken}` })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "People",
      description:
        "The people who may use the dashboard in the mode of the key that asks, and their roles. Records and events name them as `operator:<id>`."
    })
  ) {}
