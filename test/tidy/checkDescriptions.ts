/** `npm run check:api`: exits with 0 only if the descriptions of both APIs follow the rules in `.ci/redocly.yaml`. */
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../src/api/consumer/ConsumerApi.ts"
import { lint } from "./rules/descriptions.ts"

const { isClean, problems } = lint({
  consumer: OpenApi.fromApi(ConsumerApi),
  admin: OpenApi.fromApi(AdminApi)
})
process.stdout.write(problems)
process.exitCode = isClean ? 0 : 1
