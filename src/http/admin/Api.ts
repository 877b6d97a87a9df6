/** The Admin API: the operations of an organization's server. Every operation takes the secret key. */
import { HttpApi } from "effect/http-api"
import { AdminKey } from "../credentials/Credentials.ts"
import { IgnoredFields } from "../fields/IgnoredFields.ts"
import { onEveryPost } from "../idempotency/Idempotency.ts"
import { describe } from "../server/OpenApi.ts"
import { Validation } from "../errors/Validation.ts"
import { AnalyticsApi } from "./organization/AnalyticsApi.ts"
import { ApiKeyApi } from "./organization/ApiKeyApi.ts"
import { AuditLogApi } from "./organization/AuditLogApi.ts"
import { AudienceApi } from "./consumer/AudienceApi.ts"
import { ConsumersApi } from "./consumer/ConsumerApi.ts"
import { DistributionApi } from "./mechanism/DistributionApi.ts"
import { kindGroups } from "./mechanism/KindsApi.ts"
import { ExperienceApi } from "./experience/ExperienceApi.ts"
import { NodeApi } from "./organization/NodeApi.ts"
import { OrganizationApi } from "./organization/OrganizationApi.ts"
import { MessageApi } from "./message/MessageApi.ts"
import { MediaAssetApi } from "./catalogue/MediaAssetApi.ts"
import { OrderApi } from "./consumer/OrderApi.ts"
import { ExperiencePageApi } from "./experience/ExperiencePageApi.ts"
import { PeopleApi } from "./people/PeopleApi.ts"
import { OutboxApi } from "./organization/OutboxApi.ts"
import { ProductApi } from "./catalogue/ProductApi.ts"
import { ReceiverApi } from "./receiver/ReceiverApi.ts"
import { SecurityEventApi } from "./organization/SecurityEventApi.ts"
import { SequenceApi } from "./experience/SequenceApi.ts"
import { SyncSourceApi } from "./catalogue/SyncSourceApi.ts"
import { VariantApi } from "./catalogue/VariantApi.ts"
import { VariantOptionApi } from "./catalogue/VariantOptionApi.ts"
import { describedWebhooks } from "./webhook/DescribedWebhooks.ts"
import { WebhookApi } from "./webhook/WebhookApi.ts"

export const AdminApi = describe(
  HttpApi.make("admin")
    .add(OrganizationApi)
    .add(ApiKeyApi)
    .add(ExperienceApi)
    .add(ExperiencePageApi)
    .add(SequenceApi)
    .add(AudienceApi)
    .add(ConsumersApi)
    .add(...kindGroups)
    .add(DistributionApi)
    .add(ProductApi)
    .add(VariantApi)
    .add(MediaAssetApi)
    .add(SyncSourceApi)
    .add(VariantOptionApi)
    .add(OrderApi)
    .add(AnalyticsApi)
    .add(WebhookApi)
    .add(AuditLogApi)
    .add(ReceiverApi)
    .add(MessageApi)
    .add(PeopleApi)
    .add(SecurityEventApi)
    .add(NodeApi)
    .add(OutboxApi)
    .prefix("/api")
    .middleware(Validation)
    .pipe(onEveryPost)
    .middleware(IgnoredFields)
    .middleware(AdminKey),
  {
    title: "Usher Admin API",
    description:
      "For an organization's server: experiences, their sequences, the mechanisms that release products to consumers, " +
      "and what happens in them. Every operation needs the secret key. Every response carries `X-RateLimit-Limit`, " +
      "`X-RateLimit-Remaining` and `X-RateLimit-Reset` (Unix seconds). They describe the limit with the least " +
      "remaining; on a 429, the limit that refused the request. Fields of a body that an operation does not know are " +
      "ignored, and named in `X-Ignored-Fields`.",
    webhooks: describedWebhooks
  }
)
