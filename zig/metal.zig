//! metal
