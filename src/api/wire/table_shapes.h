// SPDX-License-Identifier: Apache-2.0
// Members of the shapes that describe tables, as they are read from requests and responses. `true`
// marks required members. Missing ones are reported in this order.
#pragma once

#include "api/json/json_reader.h"
#include "stator/requests.h"

namespace stator::wire {

inline constexpr Member<AttributeDefinition> kAttributeDefinition[] = {
    {"AttributeType", set_enum<&AttributeDefinition::type>, true},
    {"AttributeName", set_text<&AttributeDefinition::name>, true},
};

inline constexpr Member<KeySchemaElement> kKeySchemaElement[] = {
    {"AttributeName", set_text<&KeySchemaElement::name>, true},
    {"KeyType", set_enum<&KeySchemaElement::type>, true},
};

inline constexpr Member<Projection> kProjection[] = {
    {"ProjectionType", set_enum<&Projection::type>},
    {"NonKeyAttributes", set_texts<&Projection::non_key_attributes>},
};

inline constexpr Member<Throughput> kThroughput[] = {
    {"WriteCapacityUnits", set_long<&Throughput::write>, true},
    {"ReadCapacityUnits", set_long<&Throughput::read>, true},
};

inline constexpr Member<Throughput> kWarmThroughput[] = {
    {"ReadUnitsPerSecond", set_long<&Throughput::read>},
    {"WriteUnitsPerSecond", set_long<&Throughput::write>},
};

inline constexpr Member<TimeToLiveSpecification> kTimeToLive[] = {
    {"AttributeName", set_text<&TimeToLiveSpecification::attribute>, true},
    {"Enabled", set_boolean<&TimeToLiveSpecification::enabled>, true},
};

inline constexpr Member<OnDemandThroughput> kOnDemand[] = {
    {"MaxReadRequestUnits", set_long<&OnDemandThroughput::max_read>},
    {"MaxWriteRequestUnits", set_long<&OnDemandThroughput::max_write>},
};

inline constexpr Member<StreamSpecification> kStream[] = {
    {"StreamEnabled", set_boolean<&StreamSpecification::enabled>, true},
    {"StreamViewType", set_enum<&StreamSpecification::view>},
};

inline constexpr Member<SearchSchemaElement> kSearchSchemaElement[] = {
    {"AttributeName", set_text<&SearchSchemaElement::name>, true},
    {"SearchSchemaElementType", set_enum<&SearchSchemaElement::type>, true},
};

inline constexpr Member<VectorIndexDefinition> kVectorAttribute[] = {
    {"AttributeName", set_text<&VectorIndexDefinition::vector_attribute>, true},
};

}  // namespace stator::wire
