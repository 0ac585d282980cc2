//! rmw_zenoh's names of topics, of types and of endpoints, and its text for qualities of service.

use middlemark_adapter::{MessageType, Topic};

use crate::common::Role;

/// A type's name in keys, and its hash (RIHS01), which ROS 2's generators compute from the definition.
/// tests/unit/test_ros2_types.py computes the hashes again.
#[derive(Clone, Copy)]
pub struct Type {
    name: &'static str,
    hash: &'static str,
}

/// std_msgs/msg/UInt8MultiArray
const OCTETS: Type = Type {
    name: "std_msgs::msg::dds_::UInt8MultiArray_",
    hash: "RIHS01_5687e861b8d307a5e48b7515467ae7a5fc2daf805bd0ce6d8e9e604bade9f385",
};
/// sensor_msgs/msg/Image
const IMAGE: Type = Type {
    name: "sensor_msgs::msg::dds_::Image_",
    hash: "RIHS01_d31d41a9a4c4bc8eae9be757b0beed306564f7526c88ea6a4588fb9582527d47",
};
/// sensor_msgs/msg/PointCloud2
const POINT_CLOUD: Type = Type {
    name: "sensor_msgs::msg::dds_::PointCloud2_",
    hash: "RIHS01_9198cabf7da3796ae6fe19c4cb3bdd3525492988c70522628af5daa124bae2b5",
};
/// sensor_msgs/msg/Imu
const IMU: Type = Type {
    name: "sensor_msgs::msg::dds_::Imu_",
    hash: "RIHS01_7d9a00ff131080897a5ec7e26e315954b8eae3353c3f995c55faf71574000b5b",
};
/// tf2_msgs/msg/TFMessage
const TF: Type = Type {
    name: "tf2_msgs::msg::dds_::TFMessage_",
    hash: "RIHS01_e369d0f05a23ae52508854b66f6aa0437f3449d652e8cbf22d5abe85d020f087",
};
/// middlemark_interfaces/srv/Bytes, which adapters/rclcpp/interfaces defines
const SERVICE: Type = Type {
    name: "middlemark_interfaces::srv::dds_::Bytes_",
    hash: "RIHS01_620cc4ef920d549974cce488dfbccde649537e4e90d3f10262344e2dff3ca7ab",
};

/// Returns the type of a topic or service.
pub fn type_of(topic: &Topic) -> Type {
    match topic.content {
        _ if topic.service => SERVICE,
        MessageType::Octets => OCTETS,
        MessageType::Image => IMAGE,
        MessageType::PointCloud => POINT_CLOUD,
        MessageType::Imu => IMU,
        MessageType::Tf => TF,
    }
}

/// Returns the key of a topic's messages, or of a service. `topic` is its full name without the first slash.
pub fn key_of(domain: i32, topic: &str, of: Type) -> String {
    format!("{domain}/{topic}/{}/{}", of.name, of.hash)
}

/// Returns the qualities of service of a topic or service: only values that differ from rmw_zenoh's defaults.
pub fn qos_of(topic: &Topic) -> String {
    const USUAL_DEPTH: u32 = 42;
    let reliability = if topic.reliable() { "" } else { "2" };
    let durability = if topic.history > 0 { "1" } else { "" };
    let history = match topic.depth() {
        None => "2,".to_owned(),
        Some(USUAL_DEPTH) => ",".to_owned(),
        Some(depth) => format!(",{depth}"),
    };
    format!("{reliability}:{durability}:{history}:,:,:,,")
}

/// A node of a session. Its namespace and enclave are those of most nodes: `/`, in tokens `%`.
pub struct Node {
    pub domain: i32,
    /// The session's id in zenoh's form.
    pub session: String,
    pub name: String,
}

impl Node {
    /// Returns the liveliness token, with the node's number 0.
    pub fn token(&self) -> String {
        self.token_of(0, "NN")
    }

    fn token_of(&self, number: usize, kind: &str) -> String {
        format!("@ros2_lv/{}/{}/0/{number}/{kind}/%/%/{}", self.domain, self.session, self.name)
    }
}

/// A publisher, subscription, client or service of a node.
pub struct Endpoint<'a> {
    pub node: &'a Node,
    /// Unique in the session.
    pub number: usize,
    pub role: Role,
    /// The full name without the first slash.
    pub topic: &'a str,
    pub of: Type,
}

impl Endpoint<'_> {
    /// Returns the liveliness token. `qos` is the text of `qos_of`.
    pub fn token(&self, qos: &str) -> String {
        let (topic, Type { name, hash }) = (self.topic.replace('/', "%"), self.of);
        format!("{}/%{topic}/{name}/{hash}/{qos}", self.node.token_of(self.number, kind_of(self.role)))
    }
}

/// Returns whether the token is that of an endpoint of this topic in this role. `topic` contains no slash.
pub fn is_of(token: &str, role: Role, topic: &str) -> bool {
    let mut parts = token.split('/').skip(5);
    parts.next() == Some(kind_of(role)) && parts.nth(3).and_then(|name| name.strip_prefix('%')) == Some(topic)
}

fn kind_of(role: Role) -> &'static str {
    match role {
        Role::Publisher => "MP",
        Role::Subscriber => "MS",
        Role::Client => "SC",
        Role::Server => "SS",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRING: Type = Type {
        name: "std_msgs::msg::dds_::String_",
        hash: "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
    };
    const ADD_TWO_INTS: Type = Type {
        name: "example_interfaces::srv::dds_::AddTwoInts_",
        hash: "RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a",
    };

    fn token(session: &str, node: &str, role: Role, topic: &str, of: Type, depth: &str) -> String {
        let node = Node { domain: 2, session: session.into(), name: node.into() };
        Endpoint { node: &node, number: 10, role, topic, of }.token(&format!("::,{depth}:,:,:,,"))
    }

    // The examples of rmw_zenoh's design document.
    #[test]
    fn the_tokens_are_those_of_the_design_document() {
        let session = "aac3178e146ba6f1fc6e6a4085e77f21";
        let listener = Node { domain: 2, session: session.into(), name: "listener".into() };
        assert_eq!(listener.token(), "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener");
        assert_eq!(
            token(session, "listener", Role::Subscriber, "chatter", STRING, "10"),
            "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/10/MS/%/%/listener/%chatter/std_msgs::msg::dds_::String_/\
             RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,10:,:,:,,"
        );
        assert_eq!(
            token("8b20917502ee955ac4476e0266340d5c", "talker", Role::Publisher, "chatter", STRING, "7"),
            "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/std_msgs::msg::dds_::String_/\
             RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,"
        );
        let (server, client) = ("f9980ee0495eaafb3e38f0d19e2eae12", "e1dc8d1b45ae8717fce78689cc655685");
        assert_eq!(
            token(server, "add_two_ints_server", Role::Server, "add_two_ints", ADD_TWO_INTS, "10"),
            "@ros2_lv/2/f9980ee0495eaafb3e38f0d19e2eae12/0/10/SS/%/%/add_two_ints_server/%add_two_ints/\
             example_interfaces::srv::dds_::AddTwoInts_/\
             RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a/::,10:,:,:,,"
        );
        assert_eq!(
            token(client, "add_two_ints_client", Role::Client, "add_two_ints", ADD_TWO_INTS, "10"),
            "@ros2_lv/2/e1dc8d1b45ae8717fce78689cc655685/0/10/SC/%/%/add_two_ints_client/%add_two_ints/\
             example_interfaces::srv::dds_::AddTwoInts_/\
             RIHS01_e118de6bf5eeb66a2491b5bda11202e7b68f198d6f67922cf30364858239c81a/::,10:,:,:,,"
        );
    }

    #[test]
    fn the_key_of_a_topic_is_that_of_the_design_document() {
        assert_eq!(
            key_of(2, "robot1/chatter", STRING),
            "2/robot1/chatter/std_msgs::msg::dds_::String_/\
             RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"
        );
    }

    #[test]
    fn slashes_in_the_name_of_a_topic_are_replaced_in_its_token() {
        assert!(token("1", "talker", Role::Publisher, "robot1/chatter", STRING, "7").contains("/%robot1%chatter/"));
    }

    #[test]
    fn a_token_tells_the_topic_and_the_role_of_its_endpoint() {
        let its = token("1", "talker", Role::Publisher, "chatter", STRING, "7");
        assert!(is_of(&its, Role::Publisher, "chatter"));
        assert!(!is_of(&its, Role::Subscriber, "chatter") && !is_of(&its, Role::Publisher, "chat"));
        assert!(!is_of("@ros2_lv/2/1/0/0/NN/%/%/chatter", Role::Publisher, "chatter"));
        assert!(!is_of("@ros2_lv", Role::Publisher, "chatter"));
    }

    #[test]
    fn the_qualities_of_service_contain_what_differs_from_the_defaults_of_rmw_zenoh() {
        // SAFETY: all members are numbers, enumerations with a value 0, or empty lists.
        let mut topic: Topic = unsafe { std::mem::zeroed() };
        assert_eq!(qos_of(&topic), "::2,:,:,:,,", "reliable, keep-all");
        topic.reliability = middlemark_adapter::Reliability::BestEffort;
        topic.history = 1;
        assert_eq!(qos_of(&topic), "2:1:2,:,:,:,,");
    }
}
